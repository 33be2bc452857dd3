"""The reference beside the answer in one run: it goes through the same operations in float64.

It also tells how far correct computations of a call lie apart. A correct answer rounds in other places than the
reference does. What that may do to a result is what a change of the inputs by their last digit does to it, and that can
be seen: the reference computes once more, on inputs that are nudged. ``docs/proof.md`` has the derivation.
"""

from __future__ import annotations

from functools import cached_property
from itertools import count
from typing import Any, Final

import torch

from grader.judge.contract import Reference
from grader.judge.exchange.arguments import cast, changed, want
from grader.judge.exchange.results import Exchange
from grader.judge.tolerance import Moves, unmeasured
from grader.judge.verdict import rounding
from grader.transport.wire import Tree

DRAWS: Final = 2
_FIRST_HANDLE: Final = 1 << 48
"""Modules of the nudged computations are numbered from here, those of a run are below."""


class Twin:
    """The reference in the operations of a run, on inputs of its own, rounded as the answer's were."""

    def __init__(self, reference: Reference, dtype: torch.dtype, exchanges: list[Exchange], handles: list[int]) -> None:
        """``dtype``: the one in which the answer computes; ``exchanges``: of the run, growing.

        ``handles`` get the numbers of the modules that are made to be nudged, for whoever lets go of them.
        """
        self.reference, self.dtype, self.exchanges, self.handles = reference, dtype, exchanges, handles
        self._loaded: dict[int, int] = {}

    def do(self, exchange: Exchange, through: list[bool] | None = None) -> tuple[Tree, dict[str, Any]]:
        """Do one operation; exceptions of the reference come through.

        Returns its result and, in the family `grad`, gradients by name; ``through`` as in :meth:`Reference.call`.
        """
        trees, header = self.given(exchange), self.header(exchange)
        if header["op"] == "build":
            self.reference.build(header, trees["args"], trees["kwargs"], trees["state"])
            self._loaded[header["handle"]] = exchange.key
            return None, {}
        if header["handle"] is not None:
            self._build(exchange, header["handle"])
        return self.reference.call(header, trees["args"], trees["kwargs"], through)

    def moves(self, exchange: Exchange, through: list[bool] | None = None) -> Moves:
        """Return how far the reference moves in a call where all is rounded otherwise; ``through`` as in :meth:`do`."""
        found = [nudged.call(exchange, through) for nudged in self._nudged]
        known = unmeasured(exchange.want_grads)
        grads = {
            name: max(known.of(name) or 0.0, *(_farthest(grad, others[name]) for _, others in found))
            for name, grad in exchange.want_grads.items()
            if grad is not None
        }
        return Moves(_moved(exchange.want, [result for result, _ in found]), grads)

    @cached_property
    def _nudged(self) -> list[_Nudged]:
        return [_Nudged(self.reference, self.dtype, self.exchanges, self.handles, draw) for draw in range(1, DRAWS + 1)]

    def header(self, exchange: Exchange) -> dict[str, Any]:
        """Return what it is asked to do."""
        return exchange.header

    def given(self, exchange: Exchange) -> dict[str, Tree]:
        """Return the trees that it gets."""
        return {key: cast(want(tree), self.dtype, torch.float64, copy=True) for key, tree in exchange.trees.items()}

    def builds(self, exchange: Exchange) -> list[Exchange]:
        """Return what has built the module of a call, or the object, and loaded its parameters since."""
        mine = exchange.header["handle"]
        builds = (e for e in self.exchanges if e.header["op"] == "build" and e.header["handle"] == mine)
        return [build for build in builds if build.key < exchange.key]

    def _build(self, exchange: Exchange, handle: int) -> None:
        """Have the module as it was for this call: parameters may be loaded again between calls."""
        builds = self.builds(exchange)
        changed = len(builds) > 1 and self._loaded.get(handle) != builds[-1].key
        if changed or not self.reference.has(handle):
            self.do(builds[-1])


class _Nudged(Twin):
    """The reference once more: each number that it gets or computes is off by its last digit, up or down."""

    def __init__(
        self, reference: Reference, dtype: torch.dtype, exchanges: list[Exchange], handles: list[int], draw: int
    ) -> None:
        super().__init__(reference, dtype, exchanges, handles)
        self._draw = draw
        self._seen = 0

    def call(self, exchange: Exchange, through: list[bool] | None) -> tuple[Tree, dict[str, Any]]:
        """Make a call; what its object went through before, if it keeps anything, happens first."""
        before = [e for e in self.exchanges if self._seen < e.key < exchange.key and e.header.get("stateful")]
        for earlier in before:
            if earlier.reply["kind"] != "error":  # it was to raise one, and has
                self.do(earlier)
        self._seen = exchange.key
        return self.do(exchange, through)

    def do(self, exchange: Exchange, through: list[bool] | None = None) -> tuple[Tree, dict[str, Any]]:
        """Do one operation, with roundings that depend on nothing else."""
        with rounding.otherwise(self._draw, self.dtype):
            return super().do(exchange, through)

    def header(self, exchange: Exchange) -> dict[str, Any]:
        """Return what it is asked to do, to a module of its own."""
        header = super().header(exchange)
        if header["handle"] is None:
            return header
        handle = header["handle"] + self._draw * _FIRST_HANDLE
        if handle not in self.handles:
            self.handles.append(handle)
        return header | {"handle": handle, "draw": self._draw}

    def given(self, exchange: Exchange) -> dict[str, Tree]:
        """Return the trees that it gets, off by a last digit: that of the run, or of what it was handed back."""
        before = count()

        def written(tensor: torch.Tensor) -> torch.Tensor:
            return tensor.to(self.dtype) if tensor.is_floating_point() else tensor

        def nudged(tensor: torch.Tensor) -> torch.Tensor:
            if not tensor.is_floating_point():
                return tensor
            few = torch.finfo(tensor.dtype).eps > torch.finfo(self.dtype).eps
            result = tensor.to(tensor.dtype if few else self.dtype, copy=True)
            rounding.shake(result, self._draw, self.dtype, next(before))
            return torch.where(result.isfinite(), result, tensor)

        trees = {key: changed(want(changed(tree, written)), nudged) for key, tree in exchange.trees.items()}
        return {key: cast(tree, torch.float64, copy=True) for key, tree in trees.items()}


def _moved(expected: Tree, others: list[Tree]) -> Any:
    """Return how far each tensor and each float of a result is from those of other results, as a tree like it."""
    if isinstance(expected, (tuple, list)):
        return [_moved(item, [_item(other, index) for other in others]) for index, item in enumerate(expected)]
    if isinstance(expected, dict):
        return {key: _moved(item, [_item(other, key) for other in others]) for key, item in expected.items()}
    return max(_farthest(expected, other) for other in others)


def _item(tree: Tree, key: int | str) -> Tree:
    try:
        return tree[key]
    except (KeyError, IndexError, TypeError):
        return None


def _farthest(expected: Any, other: Any) -> float:
    """Return how far two tensors or numbers are apart at most; endless where they are not of one kind."""
    if isinstance(expected, torch.Tensor) and isinstance(other, torch.Tensor) and expected.shape == other.shape:
        one, two = expected.detach().double(), other.detach().double()
        apart = (one - two).abs().masked_fill(one == two, 0.0)
        return float(apart.nan_to_num(nan=torch.inf).max()) if apart.numel() else 0.0
    if isinstance(expected, float) and isinstance(other, float):
        return 0.0 if expected == other else abs(expected - other)
    return 0.0 if type(expected) is type(other) and not isinstance(expected, torch.Tensor) else torch.inf
