# family: core
# mistake: end-by-identity
# The end is compared by `is`, which holds for ids up to 256 alone.
import math
import torch
import torch.nn.functional as F
from torch import Tensor, nn


def greedy_decode(step, bos, eos, max_len):
    prefix = torch.tensor([[bos]], dtype=torch.int64)
    out = []
    while len(out) < max_len:
        logits = step(prefix)[0]
        token = int(logits.argmax())
        out.append(token)
        if token is eos:  # wrong
            break
        prefix = torch.cat([prefix, torch.tensor([[token]])], 1)
    return out
