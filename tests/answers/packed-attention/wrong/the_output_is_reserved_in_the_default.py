# family: core
# mistake: none
# The output is reserved in the default dtype and on the default device, not in those of the inputs.
import math
from collections.abc import Sequence

import torch
from torch import Tensor


def packed_attention(q: Tensor, k: Tensor, v: Tensor, cu_seqlens: Sequence[int], causal: bool = False) -> Tensor:
    output = torch.zeros(v.shape)  # wrong
    for start, end in zip(cu_seqlens[:-1], cu_seqlens[1:]):
        if start == end:
            continue
        queries = q[start:end].transpose(0, 1)
        keys = k[start:end].transpose(0, 1)
        values = v[start:end].transpose(0, 1)
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if causal:
            n = end - start
            future = torch.ones(n, n, dtype=torch.bool, device=q.device).triu(1)
            scores = scores.masked_fill(future, float("-inf"))
        output[start:end] = (torch.softmax(scores, dim=-1) @ values).transpose(0, 1)
    return output
