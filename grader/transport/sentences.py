"""What is said in a sandbox, which speaks English, in the language of who reads it: found by its template.

A template has ``{}`` or ``{name}`` where something is filled in. Whatever fits none is shown as it came.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from string import Formatter
from typing import Final

from grader.language import _, current, marked

SENTENCES: Final = (
    # executor.py, values.py
    marked("{name}(...) is {what}, not an nn.Module"),
    marked("what an earlier call returned has no part [{index}]"),
    marked("the file defines no {name}"),
    marked("{name} is {what}, which cannot be called"),
    marked("{name} cannot be called: it has no forward"),
    marked("the result is too large: shape {shape}"),
    marked("the result is too large: {count} characters of text"),
    marked("{name} has no {member}"),
    marked("{name} has no parameters"),
    marked("{name} returned {what}, expected a loss: a scalar with a gradient"),
    marked("{name} returned {what}, expected a result and a state"),
    # probes/simdevice
    marked(
        "a tensor of shape {shape} is copied from the device to the CPU (.cpu(), .to('cpu'), .tolist(), "
        ".numpy(), or a write into a tensor on the CPU)"
    ),
    marked("a single value is read from the device (.item(), float(), bool() or `if`): the device has to wait"),
    marked(
        "a tensor of shape {shape} is copied from the CPU to the device at each call: "
        "create it there (device=x.device) or register it as a buffer"
    ),
    marked("indexing with a bool mask makes a tensor whose shape depends on the data: the device has to wait"),
    marked("{op} makes a tensor whose shape depends on the data: the device has to wait"),
    marked("torch {version} does not allow it: {kind}: {problem}"),
    marked("a product on the device came out wrong"),
    marked("a gradient on the device came out wrong"),
    marked("a tensor on the device and one on the CPU could be added"),
    # tampering
    marked("your file looks into the running program ({name})"),
    marked("your file starts a thread: what runs there is not watched, so threads are out of bounds"),
    marked("your file touches the functions that watch it ({name})"),
    marked("your file makes or changes code objects ({name})"),
    marked("your file runs code under the name of a file that is not its own ({name})"),
    marked("your file imports the grader ({name})"),
    marked("your file replaces {name}"),
    marked("your file removes {name}"),
    marked("your file changes PyTorch's default dtype, for whoever uses it"),
    marked("your file puts another kernel in the place of one of torch's ({name})"),
    # confine.py
    marked("can read files outside the allow-list"),
    marked("can create files"),
    marked("can open network sockets"),
    marked("can send to sockets outside"),
    marked("can signal the grader"),
    marked("can start processes"),
    # wire.py, host.py, and the judge's own checks of a reply
    marked("a malformed reply"),
    marked("a reply to something else"),
    marked("a malformed list of parameters"),
    marked("there are bytes after the reply"),
    marked("the reply is stale or forged"),
    marked("the reply does not start with the mark of a frame"),
    marked("the reply announces {size} MiB, more than is allowed"),
    marked("the header of the reply is not JSON"),
    marked("the header of the reply is not an object"),
    marked("the tensors of the reply are cut short"),
    marked("the header of the tensors is too large"),
    marked("the header of the tensors is not JSON"),
    marked("too many tensors"),
    marked("a tensor with too many dimensions"),
    marked("the tensors of the reply cannot be read: {kind}"),
    marked("unknown dtype {name}"),
    marked("a malformed value"),
    marked("a malformed dict"),
    marked("an unknown device"),
    marked("a value of an unknown kind"),
    marked("a value points to a tensor that is not there"),
    marked("the values are larger than what was sent"),
    marked("a value points outside of what was sent"),
    marked("a tensor of an impossible shape"),
    marked("a malformed list"),
    marked("a malformed list of names"),
)
"""Whole sentences. A test holds them to the ones in the code."""

EXCEPTIONS: Final = (
    marked("(the text of the exception cannot be read)"),
    # callables.py
    marked("step takes an int64 tensor of shape (B, t), got a {kind}"),
    marked("step takes an int64 tensor of shape (B, t), t at least 1, got {dtype} of shape {shape}"),
    marked("step got prefixes of {count} tokens, this model takes at most {most}"),
    marked("step got the token {token}, the vocabulary has {count}"),
    # guest.py
    marked("there is no debugger in a grading to stop in: `kata repro` writes a failing case as a script for one"),
)
"""Texts of exceptions that are ours, not Python's."""

VALUES: Final = (
    marked("a subclass of torch.Tensor ({name})"),
    marked("a NumPy array"),
    marked("a NumPy {name}"),
    marked("a generator"),
    marked("a function"),
    marked("a module ({name})"),
    marked("a tensor of {layout} layout and dtype {dtype}"),
    marked("a tensor on the meta device, which holds no values"),
    marked("an {name}"),
    marked("a {name}"),
)
"""What a value is, in a few words, by :func:`grader.sandbox.values.describe`; the special before the general."""


def in_words(sentence: str) -> str:
    """Return a sentence from a sandbox in the reader's language."""
    return sentence if current() == "en" else rendered(sentence, {text: _(text) for text in SENTENCES}, value_in_words)


def exception_in_words(text: str) -> str:
    """Return the text of an exception in the reader's language where it is ours, else as Python has it."""
    return text if current() == "en" else rendered(text, {known: _(known) for known in EXCEPTIONS})


def value_in_words(what: str) -> str:
    """Return in the reader's language what a value is."""
    return what if current() == "en" else rendered(what, {text: _(text) for text in VALUES})


def rendered(english: str, templates: Mapping[str, str], inside: Callable[[str], str] = str) -> str:
    """Return a sentence by the template that it was made from, itself where there is none.

    ``inside`` translates what was filled in.
    """
    if english in templates:
        return templates[english]
    for template, translation in templates.items():
        match = _pattern(template).fullmatch(english) if "{" in template else None
        if match is not None:
            named = {name: inside(text) for name, text in match.groupdict().items()}
            return translation.format(*(inside(text) for text in match.groups()), **named)
    return english


def placeholders(template: str) -> list[str]:
    """Return the names of what is filled in, in order; one without a name is empty."""
    return [name for _text, name, _format, _conversion in Formatter().parse(template) if name is not None]


@cache
def _pattern(template: str) -> re.Pattern[str]:
    parts: list[str] = []
    for text, name, _format, _conversion in Formatter().parse(template):
        parts.append(re.escape(text))
        if name is not None:
            parts.append(f"(?P<{name}>.+?)" if name else "(.+?)")
    return re.compile("".join(parts), re.DOTALL)
