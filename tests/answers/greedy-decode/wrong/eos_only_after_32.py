# family: core
# mistake: none
"""Looks for eos in the first 32 tokens only."""

from collections.abc import Callable
import torch
from torch import Tensor


def greedy_decode(step: Callable[[Tensor], Tensor], bos: int, eos: int, max_len: int) -> list[int]:
    written: list[int] = []
    for t in range(1, max_len + 1):
        prefix = torch.tensor([bos, *written]).view(1, t)
        logits = step(prefix)[0]
        token = int(logits.argmax())
        written.append(token)
        if token == eos and t <= 32:
            break
    return written
