"""The reference beside the answer in one run: it goes through the same operations in float64."""

from __future__ import annotations

from typing import Any

import torch

from grader.judge.exchange.arguments import cast, want
from grader.judge.exchange.results import Exchange
from grader.judge.workers.reference import Reference
from grader.transport.wire import Tree


class Twin:
    """The reference in the operations of a run, on inputs of its own, rounded as the answer's were."""

    def __init__(self, reference: Reference, dtype: torch.dtype, exchanges: list[Exchange]) -> None:
        """``dtype``: the one in which the answer computes; ``exchanges``: of the run, growing."""
        self.reference, self.dtype, self.exchanges = reference, dtype, exchanges
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
