"""What calls return to a case: known only once the answer's reply is in, asked for when somebody looks.

And what a case says of two of them, which is looked at when both are in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from grader.judge.exchange.compare import agree, same_bits
from grader.judge.exchange.seen import asked_of, node_at, tensor_nodes
from grader.judge.failure import Failure
from grader.judge.tolerance import Moves
from grader.language import _
from grader.probes.meter import Cost
from grader.transport.wire import Tree

if TYPE_CHECKING:
    from grader.judge.workers.pending import Asked

Path = tuple[int | str, ...]
Place = tuple[int, Path]
"""The number of an operation in its run, and where in its result."""


@dataclass(slots=True, eq=False)
class Exchange:
    """One operation: what was asked of the answer, what it did, what the reference did."""

    header: dict[str, Any]
    trees: dict[str, Tree]
    call: str
    names: tuple[str, ...]
    compared: bool
    key: int = 0
    size: int = 0
    asked: Asked | None = None
    sent: tuple[dict[str, Any], dict[str, torch.Tensor]] = field(default_factory=lambda: ({}, {}))
    settled: bool = False
    reply: dict[str, Any] = field(default_factory=lambda: {"kind": "unanswered"})
    value: Tree = None
    grads: dict[str, torch.Tensor | None] = field(default_factory=dict)
    want: Tree = None
    want_grads: dict[str, torch.Tensor | None] = field(default_factory=dict)
    moves: Moves | None = None
    """How far the two move by rounding, where that was measured."""
    cost: Cost | None = None

    @property
    def carries(self) -> list[bool]:
        """Whether each tensor that came back carries a graph, or has to.

        The first is the result itself, and weights are one, too. What else comes back, a cache, may be detached.
        """
        nodes = list(tensor_nodes(self.reply["value"]))
        names = self.names if len(self.names) == len(nodes) else [""] * len(nodes)
        pairs = enumerate(zip(nodes, names, strict=True))
        return [at == 0 or name == "weights" or node.get("grad") is True for at, (node, name) in pairs]


def built_as(exchanges: Iterable[Exchange], handle: int | None) -> str:
    """Return the class of the module of this number; empty where none was built."""
    made = (e.header for e in exchanges if e.header["op"] == "build" and e.header["handle"] == handle)
    return next((header["entry"] for header in made), "")


class Result:
    """What a call returned: the answer's value and, where it was compared, the reference's."""

    def __init__(
        self, exchange: Exchange, settle: Callable[[Exchange], None], path: tuple[int | str, ...] = ()
    ) -> None:
        self.exchange, self.path = exchange, path
        self._settle = settle

    @property
    def settled(self) -> bool:
        """Whether the answer's reply is in."""
        return self.exchange.settled

    def packed(self) -> dict[str, Any]:
        """Return the node for the answer's value when it is handed back: it gets the very thing, memory and all."""
        return {"returned": self.exchange.key, "path": list(self.path)}

    @property
    def got(self) -> Tree:
        """The answer's value."""
        self._settle(self.exchange)
        return at(self.exchange.value, self.path)

    @property
    def want(self) -> Tree:
        """The reference's value; None where nothing was compared."""
        self._settle(self.exchange)
        return at(self.exchange.want, self.path)

    @property
    def cost(self) -> Cost:
        """What the call cost; counted in the family `cost` only."""
        self._settle(self.exchange)
        if self.exchange.cost is None:
            raise Failure("protocol", _("the process of your code did not report what the call cost"), "crashed")
        return self.exchange.cost

    @property
    def asked(self) -> list[tuple[int, int]]:
        """The shapes (rows, length) of the prefixes with which the answer called ``step``, in order."""
        self._settle(self.exchange)
        return asked_of(self.exchange.reply)

    @property
    def carries_gradient(self) -> bool:
        """Whether something in this part of what the answer returned is the result of a graph, as its process says."""
        self._settle(self.exchange)
        part = node_at(self.exchange.reply.get("value"), self.path)
        return any(node.get("grad") is True for node in tensor_nodes(part))

    @property
    def gradients(self) -> dict[str, torch.Tensor | None]:
        """The gradients of what the call was given and of the module's parameters, by name, where they are asked for.

        They are those of a scalar that has each result with fixed weights in it (``cotangent``).
        """
        self._settle(self.exchange)
        return self.exchange.grads

    @property
    def shape(self) -> torch.Size:
        """Shape of the answer's tensor."""
        shape: torch.Size = self.got.shape
        return shape

    def __getitem__(self, index: int | str) -> Result:
        return Result(self.exchange, self._settle, (*self.path, index))

    def __iter__(self) -> Iterator[Result]:
        return (self[index] for index in range(len(self)))

    def __len__(self) -> int:
        if not self.path and len(self.exchange.names) > 1:
            return len(self.exchange.names)
        return len(self.got)


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a case says of two results, which have to agree; ``after`` so many operations of its run it is looked at.

    Nobody has to wait for the results in order to state it, so that a case which does only this asks the same of every
    answer. ``exact``: bit for bit, else within the tolerance of their dtype.
    """

    first: Place
    second: Place
    exact: bool
    sentence: str
    after: int

    def holds(self, value_of: Callable[[int], Tree]) -> bool:
        """Whether it is so. ``value_of`` returns what an operation of the run returned."""
        first, second = (at(value_of(index), path) for index, path in (self.first, self.second))
        return (same_bits if self.exact else agree)(first, second)


def at(value: Tree, path: Path) -> Tree:
    """Return a part of a result; None where there is no result."""
    for index in path:
        if value is None:
            return None
        value = value[index]
    return value
