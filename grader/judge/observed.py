"""What the probes in the sandbox saw, turned into failures, remarks and counts.

All of it is data that may be forged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.judge.failure import Failure, tampering, text_of
from grader.language import _
from grader.sandbox.sentences import in_words

if TYPE_CHECKING:
    from grader.judge.results import Exchange


@dataclass(frozen=True, slots=True)
class Cost:
    """What a call cost, counted: see :class:`grader.probes.meter.Cost`."""

    calls: int
    madds: int
    elems: int
    biggest: int
    biggest_line: int
    peak: int
    lines: tuple[tuple[int, int], ...]

    @property
    def work(self) -> int:
        """Multiply-adds and elements written together: neither alone sees every way to do too much."""
        return self.madds + self.elems


def contract_failure(exchange: Exchange) -> Failure | None:
    """Return the failure for tampering, a forbidden call or a changed input, if there was one."""
    found = tampering(exchange.reply)
    if found is not None:
        return found
    forbidden = forbidden_call(exchange)
    if forbidden is not None:
        return forbidden
    modified = exchange.reply.get("modified")
    if type(modified) is list and modified:
        names = ", ".join(text_of(name, 80) for name in modified[:8])
        sentence = _("your code changed its input {names} in place")
        return Failure("modified", sentence.format(names=names), call=exchange.call)
    return None


def forbidden_call(exchange: Exchange) -> Failure | None:
    """Return the failure for a forbidden call, if there was one."""
    for name, line in _findings(_seen(exchange.reply).get("forbidden")):
        sentence = _("{name} is out of bounds in this kata")
        return Failure("forbidden", sentence.format(name=name), line=line, call=exchange.call)
    return None


def device_failure(reply: dict[str, Any], device: str, names: tuple[str, ...]) -> Failure | None:
    """Return the failure for a result that is not on ``device`` (if one is given) or for traffic, if there was any."""
    for index, node in enumerate(tensor_nodes(reply.get("value"))):
        where = text_of(node.get("device"), 20)
        if device and where.partition(":")[0] != device:
            label = f"`{names[index]}`" if index < len(names) and names[index] else _("the result")
            sentence = _("{label} is on {where}, but the inputs are on {device}:0")
            return Failure("device", sentence.format(label=label, where=where, device=device))
    for message, line in _findings(_seen(reply).get("traffic")):
        return Failure("traffic", in_words(message), line=line)
    return None


def remarks_of(reply: dict[str, Any]) -> list[tuple[str, int]]:
    """Return what is worth a remark and no failure, each with its line."""
    return [(in_words(text), line) for text, line in _findings(_seen(reply).get("remarks"))]


def cost_of(reply: dict[str, Any]) -> Cost | None:
    """Return the counted cost of a call, None where none was counted."""
    counted = _seen(reply).get("cost")
    if type(counted) is not dict:
        return None
    numbers = [counted.get(key) for key in ("calls", "madds", "elems", "biggest", "biggest_line", "peak")]
    lines = counted.get("lines")
    if any(type(number) is not int for number in numbers) or type(lines) is not list:
        return None
    pairs = [
        tuple(pair) for pair in lines if type(pair) is list and len(pair) == 2 and all(type(n) is int for n in pair)
    ]
    calls, madds, elems, biggest, biggest_line, peak = (int(number) for number in numbers if type(number) is int)
    return Cost(calls, madds, elems, biggest, biggest_line, peak, tuple(pairs))


def asked_of(reply: dict[str, Any]) -> list[tuple[int, int]]:
    """Return the shapes (rows, length) of the prefixes that a step of decoding was asked to continue."""
    asked = _seen(reply).get("asked")
    if type(asked) is not list:
        return []
    return [(rows, length) for rows, length in filter(_is_a_pair, asked)]


def _is_a_pair(item: Any) -> bool:
    return type(item) is list and len(item) == 2 and all(type(n) is int for n in item)


def tensor_nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield the nodes of tensors in a reply's tree, in the order in which they were collected."""
    if type(tree) is dict:
        if "t" in tree:  # in the order in which an Unpacker, which has accepted the tree, looks at it
            yield tree
        elif "p" in tree or "l" in tree:
            for item in tree["p" if "p" in tree else "l"]:
                yield from tensor_nodes(item)
        else:
            for pair in tree.get("d", ()):
                yield from tensor_nodes(pair[1])


def _seen(reply: dict[str, Any]) -> dict[str, Any]:
    seen = reply.get("seen")
    return seen if type(seen) is dict else {}


def _findings(value: Any) -> list[tuple[str, int]]:
    if type(value) is not list:
        return []
    pairs = [item for item in value if type(item) is list and len(item) == 2]
    return [(text_of(text, 300), line if type(line) is int else 0) for text, line in pairs]
