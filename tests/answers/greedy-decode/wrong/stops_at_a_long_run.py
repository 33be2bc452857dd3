# family: core
# mistake: none
"""Stops where a token was written ten times in a row."""

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
        if token == eos or (len(written) > 9 and len(set(written[-10:])) == 1):
            break
    return written
