"""Callables that a case hands to answer and reference: made from numbers, so that they travel as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from grader.probes.seal import sealed


def _same(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


class Step:
    """A language model for one step of decoding: prefixes of token ids in, logits of the next token out.

    ``table`` is float64, (T, V, V): the logits of a prefix are the sum of ``table[i, id_i]`` over its positions i,
    so they depend on every token and on the order. They are summed in float64 in an order of their own for each row
    and then go through ``dtypes``: answer and reference get the same numbers, whatever else is in the batch.
    """

    def __init__(self, table: torch.Tensor, dtypes: tuple[torch.dtype, ...] = ()) -> None:
        self.table, self.dtypes = table, dtypes
        asked: list[list[int]] = []
        self._note, self._asked = sealed(asked.append), sealed(asked.copy)
        self._send: Callable[[torch.Tensor], torch.Tensor] = _same
        self._fetch: Callable[[torch.Tensor], torch.Tensor] = _same

    @property
    def asked(self) -> list[list[int]]:
        """The shapes of the calls so far. In the sandbox an answer could add to them, but take none away."""
        return self._asked()

    def __repr__(self) -> str:
        return f"<a model of {self.table.size(-1)} tokens>"

    def through(self, *dtypes: torch.dtype) -> Step:
        """Return the same model with logits that are rounded to these dtypes, one after the other."""
        return Step(self.table, dtypes)

    def placed(
        self, send: Callable[[torch.Tensor], torch.Tensor], fetch: Callable[[torch.Tensor], torch.Tensor]
    ) -> Step:
        """Return the same model on another device: ``send`` brings logits there, ``fetch`` ids back."""
        step = Step(self.table, self.dtypes)
        step._send, step._fetch = sealed(send), sealed(fetch)
        return step

    def __call__(self, tokens: Any) -> torch.Tensor:
        """Return the logits (B, V) of what follows the prefixes ``tokens``, int64 (B, t).

        Raises ValueError, which a learner reads, for anything else and for more positions than the table has.
        """
        longest, vocabulary, _ = self.table.shape
        if not isinstance(tokens, torch.Tensor):
            raise ValueError(f"step takes an int64 tensor of shape (B, t), got a {type(tokens).__name__[:60]}")  # noqa: TRY004
        if tokens.dtype != torch.int64 or tokens.dim() != 2 or not tokens.numel():
            kind = str(tokens.dtype).removeprefix("torch.")
            raise ValueError(
                f"step takes an int64 tensor of shape (B, t), t at least 1, got {kind} of shape {tuple(tokens.shape)}"
            )
        self._note(list(tokens.shape))
        ids = self._fetch(tokens.detach())
        if ids.size(1) > longest:
            raise ValueError(f"step got prefixes of {ids.size(1)} tokens, this model takes at most {longest}")
        if bool(((ids < 0) | (ids >= vocabulary)).any()):
            raise ValueError(f"step got the token {_stranger(ids, vocabulary)}, the vocabulary has {vocabulary}")
        logits = self.table[torch.arange(ids.size(1)), ids].cumsum(dim=1)[:, -1]  # one position after the other
        for dtype in self.dtypes:
            logits = logits.to(dtype)
        return self._send(logits)


def _stranger(ids: torch.Tensor, vocabulary: int) -> int:
    return int(ids[(ids < 0) | (ids >= vocabulary)][0])


def steps_in(tree: Any) -> Iterator[Step]:
    """Yield the models among arguments."""
    if isinstance(tree, Step):
        yield tree
    elif isinstance(tree, (tuple, list)):
        for item in tree:
            yield from steps_in(item)
    elif isinstance(tree, dict):
        yield from steps_in(tuple(tree.values()))
