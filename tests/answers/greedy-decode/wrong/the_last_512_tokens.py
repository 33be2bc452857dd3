# family: core
# mistake: none
# The model is shown the last 512 tokens of a longer prefix.
import math
import torch
import torch.nn.functional as F
from torch import Tensor, nn


def greedy_decode(step, bos, eos, max_len):
    prefix = torch.tensor([[bos]], dtype=torch.int64)
    out = []
    while len(out) < max_len:
        logits = step(prefix[:, -512:])[0]  # wrong
        token = int(logits.argmax())
        out.append(token)
        if token == eos:
            break
        prefix = torch.cat([prefix, torch.tensor([[token]])], 1)
    return out
