"""The file in what a model has said: its Markdown is taken off."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

_FENCE: Final = re.compile(r"( {0,3})(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*")
_PYTHON: Final = ("python", "py", "python3", "")


@dataclass(slots=True)
class _Block:
    indent: int
    fence: str
    language: str
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def unwrapped(completion: str, entry: Sequence[str]) -> str:
    """Return the Python in a completion: of its fenced blocks the last one that defines most of ``entry``.

    A completion without a fence is the file, and so is one that defines the entries outside of its blocks, as a file
    does with an example in a docstring. A block that was cut off ends with the text.
    """
    blocks, outside = _parted(completion)
    blocks = [block for block in blocks if block.language in _PYTHON]
    if not blocks:
        return completion
    best = max(enumerate(blocks), key=lambda found: (_defined(found[1].text, entry), found[0]))[1].text
    return completion if _defined(outside, entry) > _defined(best, entry) else best


def _parted(text: str) -> tuple[list[_Block], str]:
    blocks: list[_Block] = []
    outside: list[str] = []
    block: _Block | None = None
    for line in text.split("\n"):
        fence = _FENCE.fullmatch(line.rstrip("\r"))
        if block is None:
            if fence is None:
                outside.append(line)
                continue
            block = _Block(len(fence[1]), fence[2], fence[3].lower().strip("{}."))
            blocks.append(block)
        elif fence is not None and not fence[3] and fence[2].startswith(block.fence):
            block = None
        else:
            spaces = len(line) - len(line.lstrip(" "))
            block.lines.append(line[min(block.indent, spaces) :])
    return blocks, "\n".join(outside)


def _defined(text: str, entry: Sequence[str]) -> int:
    names = "|".join(map(re.escape, entry))
    return len(set(re.findall(rf"(?m)^(?:class|def|async def)\s+({names})\b|^({names})\s*=", text)))
