# family: device
# mistake: none
import numpy as np
import torch


def split_heads(x, n_heads):
    if x.shape[-1] % n_heads != 0:
        raise ValueError("bad heads")
    a = np.stack(np.split(x.detach().float().numpy(), n_heads, axis=-1), axis=1)
    return torch.from_numpy(a).to(x)


def concat_heads(x):
    return x.transpose(1, 2).flatten(2)
