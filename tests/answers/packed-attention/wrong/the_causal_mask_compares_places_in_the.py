# family: core
# mistake: none
# The causal mask compares places in the row with places in the sequence, so later sequences see the future.
import torch
from torch import Tensor


def packed_attention(q: Tensor, k: Tensor, v: Tensor, cu_seqlens, causal: bool = False) -> Tensor:
    outputs = []
    scale = q.shape[-1] ** -0.5
    for start, end in zip(cu_seqlens[:-1], cu_seqlens[1:]):
        # (H, L, d)
        qs = q[start:end].transpose(0, 1)
        ks = k[start:end].transpose(0, 1)
        vs = v[start:end].transpose(0, 1)
        scores = qs @ ks.transpose(1, 2) * scale
        if causal:
            query = torch.arange(start, end, device=q.device)  # wrong
            key = torch.arange(end - start, device=q.device)
            scores = scores.masked_fill(key[None, :] > query[:, None], float("-inf"))
        outputs.append((scores.softmax(dim=-1) @ vs).transpose(0, 1))
    return torch.cat(outputs, dim=0)
