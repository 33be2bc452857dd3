import torch
from torch import Tensor


def filter_row(row: Tensor, p: float) -> Tensor:
    probs = row.softmax(0)
    order = torch.argsort(row, descending=True, stable=True)
    result = torch.full_like(row, -float("inf"))
    total = 0.0
    for index in order:
        result[index] = row[index]
        total += probs[index].item()
        if total >= p:
            break
    return result


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    if logits.dim() == 1:
        return filter_row(logits, p)
    rows = [filter_row(row, p) for row in logits.reshape(-1, logits.shape[-1])]
    return torch.stack(rows).reshape(logits.shape)
