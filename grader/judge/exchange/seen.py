"""What the probes in the sandbox saw and counted, read from a reply: cost, prefixes, where tensors live.

All of it is data that may be forged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from grader.probes.meter import Cost


def cost_of(reply: dict[str, Any]) -> Cost | None:
    """Return the counted cost of a call, None where none was counted."""
    counted = seen_in(reply).get("cost")
    if type(counted) is not dict:
        return None
    numbers: dict[str, Any] = {
        key: counted.get(key) for key in ("calls", "madds", "elems", "biggest", "biggest_line", "peak")
    }
    lines = counted.get("lines")
    if any(type(number) is not int for number in numbers.values()) or type(lines) is not list:
        return None
    pairs = filter(_is_a_pair, lines)
    return Cost(**numbers, lines=Counter(dict(pairs)))


def asked_of(reply: dict[str, Any]) -> list[tuple[int, int]]:
    """Return the shapes (rows, length) of the prefixes that a step of decoding was asked to continue."""
    asked = seen_in(reply).get("asked")
    if type(asked) is not list:
        return []
    return [(rows, length) for rows, length in filter(_is_a_pair, asked)]


def _is_a_pair(item: Any) -> bool:
    return type(item) is list and len(item) == 2 and all(type(n) is int for n in item)


def seen_in(reply: dict[str, Any]) -> dict[str, Any]:
    """Return what was observed while a reply came about."""
    seen = reply.get("seen")
    return seen if type(seen) is dict else {}


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


def node_at(tree: Any, path: tuple[int | str, ...]) -> Any:
    """Return the node of a part of a result in a reply's tree; None where there is none."""
    for index in path:
        if type(tree) is not dict or "t" in tree:
            return None
        items = tree.get("p", tree.get("l"))
        found = dict(tree.get("d", ())) if items is None else dict(enumerate(items))
        tree = found.get(index)
    return tree
