"""What a passing reply looks like, worked out before it comes: most replies are judged by one comparison of numbers.

Whatever differs from the picture in any way is judged in the long way, which alone decides what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, Final

import torch

from grader.judge.exchange.arguments import device_of_results, expected_gradients
from grader.judge.exchange.compare import tolerance_of
from grader.judge.exchange.results import Exchange, Path
from grader.judge.exchange.seen import tensor_nodes
from grader.judge.tolerance import GRADIENT_SLACK, TABLE, Moved, Moves, part, unmeasured
from grader.judge.verdict.parameters import missing_parameters
from grader.transport.operations import Payload
from grader.transport.wire import Tree, Unpacker, WireError, dtype_name

_NUMBERS: Final = torch.float64
_TENSOR: Final = "tensor"
MALFORMED: Final = (
    *(KeyError, TypeError, ValueError, AttributeError, IndexError, RuntimeError, OverflowError),
    WireError,
)
"""What comes of a reply that breaks the rules: the long way says what is wrong with it."""


MOST_ACCEPTED: Final = 1000

_accepted: dict[tuple[tuple[str, tuple[int, ...]], ...], Any] = {}
"""For names and shapes of a contract the list that was found to fulfil it: most answers say the same each time."""


Measure = Callable[[], Moves]


class Expectation:
    """What a passing reply to an operation looks like."""

    can_be_met = True
    """Whether there are replies that meet it: a float, say, always takes the long way."""

    def met(self, reply: dict[str, Any], payload: Payload) -> bool:
        """Whether a reply is what was expected, with nothing to remark upon."""
        raise NotImplementedError

    def settle(self) -> None:
        """Find out now what else would be found out when a reply makes it matter."""


def expectation(
    exchange: Exchange, dtype: torch.dtype, device: str, *, grad: bool, measure: Measure | None = None
) -> Expectation:
    """Return what is expected of an operation of which the reference's results are known.

    ``dtype``, ``device`` and ``grad`` are those of the variant; ``measure`` tells how far the results move by rounding,
    where that counts: it takes long, and few replies are neither within rounding nor beyond all that it may allow.
    """
    if exchange.header["op"] == "build":
        return _Module(exchange.trees["state"], wants_module=exchange.header["wants_module"])
    where = device_of_results(exchange, device)
    if not exchange.compared:
        return _Anything(where)
    grads = expected_gradients(exchange) if grad else {}
    graph = grad and not any(exchange.header.get("asks", ()))
    return _Numbers(exchange.want, grads, dtype, where, graph=graph, measure=measure)


class _Module(Expectation):
    """The reply to a module that was built, with the parameters of the contract."""

    def __init__(self, state: dict[str, torch.Tensor], *, wants_module: bool) -> None:
        self._state, self._wants_module = state, wants_module
        self._contract = tuple((name, tuple(value.shape)) for name, value in state.items())

    def met(self, reply: dict[str, Any], payload: Payload) -> bool:  # noqa: ARG002 - a module sends no tensors
        """Whether the parameters are those of the contract; most answers list them just as the last one did."""
        if reply["kind"] != "built" or "tampering" in reply:
            return False
        parameters = reply.get("parameters")
        if self._wants_module and (parameters is None or parameters != _accepted.get(self._contract)):
            if missing_parameters(reply, self._state) is not None:
                return False
            if len(_accepted) < MOST_ACCEPTED:
                _accepted[self._contract] = parameters
        return True


class _Anything(Expectation):
    """The reply to a call whose result is not compared with the reference's."""

    def __init__(self, device: str) -> None:
        self._device = device

    def met(self, reply: dict[str, Any], payload: Payload) -> bool:
        """Whether it is a result, on the device where it must be, with nothing to remark upon."""
        try:
            value_of(reply, payload)
            return _is_plain(reply) and all(_is_on(node, self._device) for node in tensor_nodes(reply["value"]))
        except MALFORMED:
            return False


class _Numbers(Expectation):
    """The reply to a call whose result is compared with the reference's."""

    def __init__(
        self,
        want: Tree,
        grads: dict[str, torch.Tensor | None],
        dtype: torch.dtype,
        device: str,
        *,
        graph: bool,
        measure: Measure | None,
    ) -> None:
        """Picture the reply.

        ``want`` is the reference's result in float64, ``grads`` its gradients by name, ``dtype`` is that of the
        variant, ``device`` where results must be ("" for anywhere), ``graph`` whether they must carry a graph,
        ``measure`` tells how far all of it moves by rounding, where the table does not decide.
        """
        self._device, self._graph = device, graph
        self._dtype = dtype
        self._shape = self._template(want)
        self.can_be_met = _is_whole(self._shape)
        self._grads = list(grads)
        self._leaves: list[torch.Tensor] = []
        self._moved: list[Callable[[Moves], float | None]] = []
        _collect(want, self._leaves, self._moved)
        self._results = len(self._leaves)
        given = {name: grad for name, grad in grads.items() if grad is not None}
        self._leaves += given.values()
        self._moved += [partial(Moves.of, gradient=name) for name in given]
        self._without = {name for name, grad in grads.items() if grad is None}
        self._forms = [(dtype_name(self._dtype_of(leaf)), list(leaf.shape), leaf.numel()) for leaf in self._leaves]
        heaps = {heap for heap, _, _ in self._forms}
        self._members = {
            heap: [index for index, (name, _, _) in enumerate(self._forms) if name == heap] for heap in heaps
        }
        self._want = {
            heap: torch.cat([self._leaves[index].reshape(-1).to(_NUMBERS) for index in here])
            for heap, here in self._members.items()
        }
        self._measure = measure
        self._allowed = self._room(TABLE if measure is None else unmeasured(given))

    @cached_property
    def _widest(self) -> dict[str, torch.Tensor]:
        return self._room(TABLE)

    def _room(self, moves: Moves) -> dict[str, torch.Tensor]:
        """Return how far each number may be off where the results move like that by rounding."""
        slack = [
            tolerance_of(leaf, self._dtype, moved(moves), GRADIENT_SLACK if i >= self._results else 1.0).most
            for i, (leaf, moved) in enumerate(zip(self._leaves, self._moved, strict=True))
        ]
        return {
            heap: torch.cat([torch.full((self._leaves[i].numel(),), slack[i], dtype=_NUMBERS) for i in here])
            for heap, here in self._members.items()
        }

    def met(self, reply: dict[str, Any], payload: Payload) -> bool:
        """Whether a reply is what was expected, with nothing to remark upon."""
        try:
            return self._met(reply, payload)
        except MALFORMED:
            return False

    def _met(self, reply: dict[str, Any], payload: Payload) -> bool:
        if not _is_plain(reply):
            return False
        nodes: list[dict[str, Any]] = []
        if not self._fits(reply["value"], self._shape, nodes):
            return False
        if self._graph and any((node["grad"] is True) != (node["t"] == dtype_name(self._dtype)) for node in nodes):
            return False
        if self._grads:
            given = dict(reply["grads"])
            for name in self._grads:
                if (given[name] is None) != (name in self._without):
                    return False
                if name not in self._without:
                    nodes.append(given[name])
        return self._agree(nodes, payload())

    def _agree(self, nodes: list[dict[str, Any]], heaps: dict[str, torch.Tensor]) -> bool:
        places: dict[str, list[tuple[int, int]]] = {heap: [] for heap in self._want}
        for index, (node, (heap, shape, length)) in enumerate(zip(nodes, self._forms, strict=True)):
            if node["t"] != heap or node["shape"] != shape or "order" in node or "expand" in node:
                return False
            if index < self._results and not _is_on(node, self._device):
                return False
            places[heap].append((node["at"], length))
        found = {heap: _gathered(heaps[heap], places[heap]) for heap in self._want}
        if any(found[heap].shape != want.shape for heap, want in self._want.items()):
            return False
        if self._is_near(found, self._allowed):
            return True
        if self._measure is None or not self._is_near(found, self._widest):
            return False
        self.settle()
        return self._is_near(found, self._allowed)

    def settle(self) -> None:
        """Measure how far the numbers may be off, unless that is known."""
        if self._measure is not None:
            self._allowed, self._measure = self._room(self._measure()), None

    def _is_near(self, found: dict[str, torch.Tensor], allowed: dict[str, torch.Tensor]) -> bool:
        for heap, want in self._want.items():
            got = found[heap].to(_NUMBERS)
            near = (got - want).abs_() <= allowed[heap]
            if not bool(near.all()) and not bool((near | (got == want)).all()):  # an infinity is near to nothing
                return False
        return True

    def _dtype_of(self, leaf: torch.Tensor) -> torch.dtype:
        return self._dtype if leaf.dtype == torch.float64 else leaf.dtype

    def _template(self, want: Tree) -> Any:
        if isinstance(want, torch.Tensor):
            return _TENSOR
        if isinstance(want, (tuple, list)):
            return [self._template(item) for item in want]
        if want is None or isinstance(want, (bool, int)):
            return (want,)
        return ()  # anything else takes the long way

    def _fits(self, node: Any, template: Any, found: list[dict[str, Any]]) -> bool:
        if template is _TENSOR:
            found.append(node)
            return True
        if isinstance(template, tuple):
            return bool(template) and type(node) is type(template[0]) and node == template[0]
        items = node["p"] if "p" in node else node["l"]
        return len(items) == len(template) and all(
            self._fits(item, part, found) for item, part in zip(items, template, strict=True)
        )


def _is_whole(template: Any) -> bool:
    """Whether nothing in what a result looks like takes the long way."""
    return all(map(_is_whole, template)) if isinstance(template, list) else template != ()


def value_of(reply: dict[str, Any], payload: Payload) -> Tree:
    """Return what a call returned. Raises one of ``MALFORMED`` where that cannot be read."""
    return Unpacker(payload()).unpack(reply["value"])


def _is_plain(reply: dict[str, Any]) -> bool:
    """Whether it is a result and nothing was seen while it came about."""
    if reply["kind"] != "value" or reply["modified"] or "tampering" in reply:
        return False
    return not any(found for name, found in reply["seen"].items() if name != "asked")


def _is_on(node: dict[str, Any], device: str) -> bool:
    return not device or node["device"].partition(":")[0] == device


def _collect(
    want: Tree, leaves: list[torch.Tensor], moved: list[Callable[[Moves], float | None]], path: Path = ()
) -> None:
    """Collect the tensors of a result, and what tells how far each of them moves."""
    if isinstance(want, torch.Tensor):
        leaves.append(want)
        moved.append(partial(_moved, path=path))
    elif isinstance(want, (tuple, list)):
        for index, item in enumerate(want):
            _collect(item, leaves, moved, (*path, index))


def _moved(moves: Moves, path: Path) -> float | None:
    found: Moved = moves.results
    for index in path:
        found = part(found, index)
    result: float | None = found
    return result


def _gathered(heap: torch.Tensor, places: list[tuple[int, int]]) -> torch.Tensor:
    """Return the numbers of a heap in the order of these places; as they lie, where one follows upon the other."""
    first = at = places[0][0]
    for start, length in places:
        if start != at:
            return torch.cat([heap.narrow(0, start, length) for start, length in places])
        at += length
    return heap.narrow(0, first, at - first)
