"""What the probes in the sandbox saw, turned into failures and remarks.

All of it is data that may be forged.
"""

from __future__ import annotations

from typing import Any

from grader.judge.exchange.results import Exchange
from grader.judge.exchange.seen import seen_in, tensor_nodes
from grader.judge.failure import Failure, tampering, text_of
from grader.language import _
from grader.transport.sentences import in_words


def contract_failure(exchange: Exchange) -> Failure | None:
    """Return the failure for tampering, a forbidden call or a changed input, if there was one."""
    found = tampering(exchange.reply) or forbidden_call(exchange)
    if found is not None:
        return found
    modified = exchange.reply.get("modified")
    if type(modified) is list and modified:
        names = ", ".join(text_of(name, 80) for name in modified[:8])
        sentence = _("your code changed its input {names} in place")
        return Failure("modified", sentence.format(names=names), call=exchange.call)
    return None


def forbidden_call(exchange: Exchange) -> Failure | None:
    """Return the failure for a forbidden call, if there was one."""
    for name, line in _findings(seen_in(exchange.reply).get("forbidden")):
        sentence = _("{name} is out of bounds in this kata")
        return Failure("forbidden", sentence.format(name=name), line=line, call=exchange.call)
    return None


def device_failure(
    reply: dict[str, Any], device: str, names: tuple[str, ...], *, by_default: bool = False
) -> Failure | None:
    """Return the failure for a result that is not on ``device`` (if one is given) or for traffic, if there was any.

    ``by_default``: whether it must be there since that is the default device.
    """
    for index, node in enumerate(tensor_nodes(reply.get("value"))):
        where = text_of(node.get("device"), 20)
        if device and where.partition(":")[0] != device:
            label = f"`{names[index]}`" if index < len(names) and names[index] else _("the result")
            sentence = _("{label} is on {where}, but the inputs are on {device}:0")
            if by_default:
                sentence = _("{label} is on {where}, but the caller's default device is {device}:0")
            return Failure("device", sentence.format(label=label, where=where, device=device))
    for message, line in _findings(seen_in(reply).get("traffic")):
        return Failure("traffic", in_words(message), line=line)
    return None


def remarks_of(reply: dict[str, Any]) -> list[tuple[str, int]]:
    """Return what is worth a remark and no failure, each with its line."""
    return [(in_words(text), line) for text, line in _findings(seen_in(reply).get("remarks"))]


def _findings(value: Any) -> list[tuple[str, int]]:
    if type(value) is not list:
        return []
    pairs = [item for item in value if type(item) is list and len(item) == 2]
    return [(text_of(text, 300), line if type(line) is int else 0) for text, line in pairs]
