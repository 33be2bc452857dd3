# family: dtype
# mistake: sequences-numbered-in-half
import math

import torch


def packed_attention(q, k, v, cu_seqlens, causal=False):
    """Each token has the number of its sequence, in the dtype of the tokens."""
    lengths = torch.tensor(cu_seqlens, device=q.device).diff()
    numbers = torch.arange(len(lengths), device=q.device).to(q.dtype).repeat_interleave(lengths)
    output = v.new_zeros(q.shape[0], q.shape[1], v.shape[-1])
    for number in numbers.unique():
        rows = (numbers == number).nonzero()[:, 0]
        scores = torch.einsum("qhd,khd->hqk", q[rows] / math.sqrt(q.shape[-1]), k[rows])
        if causal:
            keep = torch.ones(len(rows), len(rows), dtype=torch.bool, device=q.device).tril()
            scores = scores.masked_fill(~keep, float("-inf"))
        output[rows] = torch.einsum("hqk,khd->qhd", scores.softmax(-1), v[rows])
    return output
