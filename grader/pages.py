"""What stands in a kata's pages of Markdown: the rungs of its hints, the questions of its talk page."""

import re
from typing import NamedTuple

_QUESTION = re.compile(r"^\*\*(?P<text>.+?)\*\*(?: <!-- (?P<id>[a-z0-9-]+) -->)?$", re.MULTILINE)


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
