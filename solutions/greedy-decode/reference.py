"""Greedy decoding: always the most probable next token.

    y_t = argmax over v of log p(v | bos, y_1, ..., y_{t-1}),    until y_t = eos or t = max_len

Sutskever, Vinyals and Le 2014, "Sequence to Sequence Learning with Neural Networks" (arXiv:1409.3215), section 3.2:
a beam search with a beam of 1. The argmax of the logits is that of the probabilities: the softmax is monotonic.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def greedy_decode(step: Callable[[Tensor], Tensor], bos: int, eos: int, max_len: int) -> list[int]:
    """Write one sequence, token by token.

    step     the language model: step(tokens), int64 (B, t), whole prefixes that begin with bos, on any device,
             returns logits (B, vocab) of the next token of each
    bos      id of the token that every prefix begins with
    eos      id of the token that ends the sequence; may be the same as bos
    max_len  how many tokens to write at most, eos included, bos not

    Returns the ids that were written, a list of int: without bos, with eos where it was written.
    """
    written: list[int] = []
    for t in range(1, max_len + 1):
        prefix = torch.tensor([bos, *written]).view(1, t)  # (1, t)
        logits = step(prefix)[0]  # (vocab)
        token = int(logits.argmax())  # the first of equal ones
        written.append(token)
        if token == eos:
            break
    return written
