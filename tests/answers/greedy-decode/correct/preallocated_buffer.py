from typing import Callable, List

import torch
from torch import Tensor


@torch.no_grad()
def greedy_decode(step: Callable[[Tensor], Tensor], bos: int, eos: int, max_len: int) -> List[int]:
    buffer = torch.empty(1, max_len + 1, dtype=torch.int64)
    buffer[0, 0] = bos
    length = 1
    while length <= max_len:
        logits = step(buffer[:, :length])
        value, index = logits.max(dim=1)
        buffer[0, length] = index.item()
        length += 1
        if buffer[0, length - 1] == eos:
            break
    return buffer[0, 1:length].tolist()
