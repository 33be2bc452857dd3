"""Greedy decoding: always the most probable next token."""

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

    Returns the ids that were written, a list of int: without bos, with eos where it was written. Of equal logits the
    lowest id wins. `step` is called once for each token that is written.
    """
    raise NotImplementedError("your turn: ask step for logits, take the best token, go on until eos or max_len")
