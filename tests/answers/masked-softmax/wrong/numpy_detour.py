# family: grad
# mistake: detached
import numpy as np
import torch


def masked_softmax(scores, mask=None, dim=-1):
    s = scores.detach().double().numpy()
    if mask is not None:
        s = np.where(mask.numpy(), s, -np.inf)
    top = s.max(axis=dim, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    e = np.exp(s - top)
    z = e.sum(axis=dim, keepdims=True)
    return torch.from_numpy(e / np.where(z == 0, 1, z)).to(scores.dtype)
