"""What stands in a kata's pages of Markdown: the rungs of its hints, the questions of its talk page.

And the one thing that Markdown does to Chinese which its readers must not see.
"""

# ruff: noqa: RUF001 - Chinese punctuation is meant

import re
from typing import Final, NamedTuple

_QUESTION = re.compile(r"^\*\*(?P<text>.+?)\*\*(?: <!-- (?P<id>[a-z0-9-]+) -->)?$", re.MULTILINE)

_CHINESE: Final = r"[\u4e00-\u9fff\u201c\u201d]"
_INNER_BREAK: Final = re.compile(rf"(?<={_CHINESE})\n(?={_CHINESE})|(?<=[，。；：、！？）（])\n(?![\n|#>-])")
"""Between two characters, and behind punctuation, which is as wide as a space is needed there."""


class Question(NamedTuple):
    """A question that an interviewer may ask, and its answer in Markdown."""

    id: str
    """Its own within the kata, the same in every language and for ever; empty where the page gives it none."""
    text: str
    answer: str


def rungs(text: str) -> list[tuple[str, str]]:
    """Return the rungs of a ladder, each a heading and its Markdown."""
    found: list[tuple[str, list[str]]] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        if line.startswith("## ") and not fenced:
            found.append((line[3:].strip(), []))
        elif found:
            found[-1][1].append(line)
    return [(heading, "\n".join(lines).strip()) for heading, lines in found]


def questions(text: str) -> list[Question]:
    """Return the questions of a talk page: `**Why?** <!-- why -->` in a line of its own, the answer below it."""
    found = list(_QUESTION.finditer(text))
    ends = [*(one.start() for one in found[1:]), len(text)][: len(found)]
    return [
        Question(one["id"] or "", " ".join(one["text"].split()), text[one.end() : end].strip())
        for one, end in zip(found, ends, strict=True)
    ]


def joined(text: str) -> str:
    """Return Markdown without the line breaks inside its paragraphs that would become spaces between Chinese words."""
    parts = re.split(r"(^```.*?^```$|^#[^\n]*\n)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith(("```", "#")) else _INNER_BREAK.sub("", part) for part in parts)
