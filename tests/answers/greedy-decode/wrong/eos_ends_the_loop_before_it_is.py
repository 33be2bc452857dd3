# family: core
# mistake: eos-dropped
# Eos ends the loop before it is appended, so it is missing in the result.
from collections.abc import Callable

import torch
from torch import Tensor


def greedy_decode(step: Callable[[Tensor], Tensor], bos: int, eos: int, max_len: int) -> list[int]:
    written: list[int] = []
    for _ in range(max_len):
        tokens = torch.tensor([[bos, *written]], dtype=torch.int64)
        best = int(step(tokens)[0].argmax())
        if best == eos:
            break  # wrong
        written.append(best)
    return written
