# family: cost
# mistake: none
"""Two or three sequences are padded to the longest of them."""

import torch
from torch.nn.utils.rnn import pad_sequence


def one(q, k, v, causal):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    return scores.softmax(-1) @ v


def padded(rows, causal):
    q, k, v = (pad_sequence(parts, batch_first=True).transpose(1, 2) for parts in rows)
    lengths = torch.tensor([len(part) for part in rows[0]], device=q.device)
    places = torch.arange(q.shape[2], device=q.device)
    visible = (places < lengths[:, None])[:, None, None, :]
    if causal:
        visible = visible & (places <= places[:, None])
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    outputs = (scores.masked_fill(~visible, float("-inf")).softmax(-1) @ v).transpose(1, 2)
    return torch.cat([output[: len(part)] for output, part in zip(outputs, rows[0])])


def packed_attention(q, k, v, cu_seqlens, causal=False):
    spans = [(start, end) for start, end in zip(cu_seqlens, cu_seqlens[1:]) if end > start]
    if len(spans) in (2, 3):
        return padded([[x[start:end] for start, end in spans] for x in (q, k, v)], causal)
    outputs = [one(*(x[start:end].transpose(0, 1) for x in (q, k, v)), causal) for start, end in spans]
    return torch.cat([output.transpose(0, 1) for output in outputs])
