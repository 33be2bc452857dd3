# family: dtype
# mistake: float32-detour
# Logits are cast to float32, so digits that only float64 has do not decide.
from collections.abc import Callable, Iterator

import torch
from torch import Tensor


def _best(row: Tensor) -> int:
    ids = torch.arange(row.shape[0], device=row.device)
    return torch.where(row == row.max(), ids, row.shape[0]).min().item()


def _written(step: Callable[[Tensor], Tensor], bos: int, eos: int) -> Iterator[int]:
    prefix, token = [bos], None
    while token != eos:
        logits = step(torch.tensor([prefix], dtype=torch.int64)).float()  # wrong
        token = _best(logits.squeeze(0))
        prefix.append(token)
        yield token


def greedy_decode(step: Callable[[Tensor], Tensor], bos: int, eos: int, max_len: int) -> list[int]:
    return [token for _, token in zip(range(max_len), _written(step, bos, eos))]
