# family: dtype
# mistake: float32-detour
# Logits are turned into float32, so float64 loses the digits that decide.
import torch
from torch import Tensor


def _best(logits: Tensor) -> int:
    row = logits[-1].float()  # wrong
    return torch.argmax(row).item()


def greedy_decode(step, bos: int, eos: int, max_len: int) -> list[int]:
    written: list[int] = []
    for _ in range(max_len):
        prefix = torch.tensor([bos, *written], dtype=torch.int64).unsqueeze(0)
        written.append(_best(step(prefix)))
        if written[-1] == eos:
            return written
    return written
