# family: core
# mistake: none
"""Hands the model the last 64 tokens."""

from collections.abc import Callable
import torch
from torch import Tensor


def greedy_decode(step: Callable[[Tensor], Tensor], bos: int, eos: int, max_len: int) -> list[int]:
    written: list[int] = []
    for t in range(1, max_len + 1):
        prefix = torch.tensor([bos, *written])[-64:].view(1, -1)
        logits = step(prefix)[0]
        token = int(logits.argmax())
        written.append(token)
        if token == eos:
            break
    return written
