"""What a known mistake did when it was asked for one operation, and whether the answer did the same."""

from __future__ import annotations

from typing import Any, Final

import torch

from grader.judge.exchange.compare import agree
from grader.judge.exchange.results import Exchange
from grader.judge.exchange.seen import tensor_nodes
from grader.judge.verdict.parameters import beside
from grader.judge.workers.backend import Header, Tensors
from grader.judge.workers.pending import Reply
from grader.transport.operations import Payload, same_operation
from grader.transport.wire import Unpacker, tensors_in

AS_FAR: Final = 0.3


class Response:
    """What an implementation did when it was asked for one operation."""

    def __init__(self, reply: Reply, sent: tuple[Header, Tensors] | None = None) -> None:
        (self.reply, self._tensors), self._sent = reply, sent
        self._value: Any = None
        self._grads: dict[str, Any] | None = None

    @property
    def payload(self) -> Payload:
        """The tensors of the reply."""
        return lambda: self._tensors

    def was_asked(self, sent: tuple[Header, Tensors]) -> bool:
        """Whether it was asked for just this."""
        return self._sent is not None and same_operation(sent, self._sent)

    def is_that_of(self, recorded: Exchange) -> bool:
        """Whether the answer did the same."""
        reply, theirs = self.reply, recorded.reply
        if reply["kind"] != theirs["kind"]:
            return False
        if reply["kind"] == "error":
            return _complaint(reply) == _complaint(theirs)
        if reply["kind"] == "built":
            return _same_layers(reply["parameters"], theirs.get("parameters", ()))
        if reply["kind"] != "value":
            return True
        if self._grads is None:
            tree = Unpacker(self._tensors)
            self._value = tree.unpack(reply["value"])
            self._grads = {name: tree.unpack(node) for name, node in reply.get("grads", [])}
        if sorted(reply["modified"]) != sorted(theirs.get("modified", [])) or not agree(self._value, recorded.value):
            return False
        if _habits(reply) != _habits(theirs):
            return False
        grads = self._grads
        return all(agree(grads[name], grad) for name, grad in recorded.grads.items() if name in grads)

    def is_blurred(self, failing: Exchange) -> bool:
        """Whether an error is so small that it cannot be told from this: they are as far apart as it is large."""
        if failing.want is None or not agree(failing.value, failing.want):
            return False
        return _apart(self._value, failing.value) > AS_FAR * _apart(failing.value, failing.want)


def _same_layers(mine: list[Any], theirs: Any) -> bool:
    """Whether two modules have the same parameters, in whatever order.

    The answer may have layers besides, and the same weight under a second name: its head, tied to its embedding.
    """
    its = [one for one in theirs if type(one) is list and type(one[0]) is str]
    names = {name for name, _shape in mine}
    counted = names.union(beside(names, (one[0] for one in its)))
    known = [one for one in its if one[0] in counted]
    return sorted(known, key=str) == sorted(map(list, mine), key=str)


def _apart(first: Any, second: Any) -> float:
    """Return how far two results of the same shapes are apart at most."""
    pairs = zip(tensors_in(first), tensors_in(second), strict=False)
    return max((_largest(one, two) for one, two in pairs if one.shape == two.shape), default=0.0)


def _largest(one: torch.Tensor, two: torch.Tensor) -> float:
    difference = (one.double() - two.double()).abs() if one.numel() else one.new_zeros(1, dtype=torch.float64)
    return float(difference.nan_to_num(nan=0.0, posinf=0.0).max())


def _complaint(reply: Header) -> tuple[str, str]:
    """Return what an exception tells of its cause.

    Of what torch refuses the sizes, in its own words; of tensors on two devices the shape of the stranger. A sentence
    that a learner wrote is his own.
    """
    name, message = str(reply.get("type")), str(reply.get("message"))
    if name == "DeviceMixError":
        return name, message.partition(", shape ")[2].partition(", is on")[0]
    return name, message.partition("\n")[0] if name == "RuntimeError" else ""


def _habits(reply: Header) -> tuple[bool, list[str], list[Any]]:
    """Whether something forbidden was called, what was copied to the host, and where the results live."""
    given = reply.get("seen")
    seen = given if type(given) is dict else {}
    return (
        bool(seen.get("forbidden")),
        sorted({str(found[0]) for found in seen.get("traffic") or () if type(found) is list and found}),
        [node.get("device") for node in tensor_nodes(reply["value"])],
    )
