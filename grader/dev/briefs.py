"""The layout of a brief, held so that every task is taken in at a glance."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from grader.catalog import Kata
from grader.text import cells

BY_HAND: Final = {"en": "By hand", "zh": "算一遍"}
EDGE_CASES: Final = {"en": "Edge cases", "zh": "边界情形"}
RULES: Final = "`kata help rules`"
LAYOUT: Final = re.compile(r"heading paragraph text python( paragraph)? h2( paragraph| text)+ h2 table paragraph")
"""Idea, drawing, signature (and what must be said of it), example, table, a last line."""
LAYOUT_IN_WORDS: Final = (
    "a heading, the idea in one paragraph, a ```text drawing, a ```python signature (and one paragraph at most), "
    "`## {by_hand}` with a ```text block of numbers, `## {edge_cases}` with a table, a last paragraph"
)

FILE_COLUMNS: Final = 120
BLOCK_COLUMNS: Final = 58
"""With the indent of a block they fit into 60 columns."""
READ_AT: Final = 100
MOST_LINES: Final = 35
MOST_DRAWN: Final = 18
MOST_OF_IDEA: Final = 3
MOST_SPOKEN: Final = {"en": 300, "zh": 500}
"""Words, or Chinese characters: what is read aloud in two minutes, at 150 or 250 a minute."""
_SPOKEN: Final = re.compile(r"[\u4e00-\u9fff]|[^\W_](?:[\w'.-]*\w)?")


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a brief: heading, paragraph, table, or the block of code of a language."""

    kind: str
    lines: tuple[str, ...]


def blocks(brief: str) -> list[Block]:
    """Return the parts of a brief, in order."""
    found: list[Block] = []
    fence, inside = "", list[str]()

    def end(kind: str) -> None:
        if inside or fence:
            found.append(Block(kind, tuple(inside)))
        inside.clear()

    for line in brief.splitlines():
        if line.startswith("```"):
            end(fence or "paragraph")
            fence = "" if fence else line[3:].strip() or "code"
        elif fence:
            inside.append(line)
        elif line.startswith("#"):
            end("paragraph")
            inside.append(line.lstrip("# "))
            end("heading" if line.startswith("# ") else "h2")
        elif not line.strip() or (inside and line.startswith("|") != inside[-1].startswith("|")):
            end("table" if inside and inside[0].startswith("|") else "paragraph")
            inside += [line] if line.strip() else []
        else:
            inside.append(line)
    end("table" if inside and inside[0].startswith("|") else "paragraph")
    return found


def problems(kata: Kata) -> Iterator[str]:
    """Yield what is wrong with the layout of both briefs, a sentence each."""
    for lang in BY_HAND:
        name = "brief.md" if lang == "en" else f"brief.{lang}.md"
        brief = kata.brief(lang)
        if brief.partition("\n")[0] != f"# {kata.title[lang]}":
            yield f"{name}: the heading is not the title, {kata.title[lang]}"
        yield from (f"{name}: {problem}" for problem in layout_problems(brief, lang, kata.entry))


def layout_problems(brief: str, lang: str, entries: tuple[str, ...]) -> Iterator[str]:
    """Yield what is wrong with the layout of one brief."""
    parts = blocks(brief)
    kinds = " ".join(part.kind for part in parts)
    titles = [part.lines[0] for part in parts if part.kind == "h2"]
    if not LAYOUT.fullmatch(kinds) or titles != [BY_HAND[lang], EDGE_CASES[lang]]:
        words = LAYOUT_IN_WORDS.format(by_hand=BY_HAND[lang], edge_cases=EDGE_CASES[lang])
        yield f"has {kinds} ({', '.join(titles)}) where it must have {words}"
        return
    if not numbers_of(brief):
        yield f"`## {BY_HAND[lang]}` has no ```text block"
    if RULES not in " ".join(parts[-1].lines):
        yield f"the last paragraph does not name {RULES}"
    signature = "\n".join(parts[3].lines)
    yield from (f"the signature does not name {entry}" for entry in entries if entry not in signature)
    yield from _sizes(brief, parts)
    if (count := spoken(brief)) > MOST_SPOKEN[lang]:
        yield f"{count} words are read aloud, more than {MOST_SPOKEN[lang]}"


def _sizes(brief: str, parts: list[Block]) -> Iterator[str]:
    for number, line in enumerate(brief.splitlines(), 1):
        if cells(line) > FILE_COLUMNS and not line.startswith("|"):
            yield f"line {number} has {cells(line)} columns, more than {FILE_COLUMNS}"
    for line in (line for part in parts if part.kind == "text" for line in part.lines):
        if cells(line) > BLOCK_COLUMNS:
            yield f"`{line.strip()}` has {cells(line)} columns, more than {BLOCK_COLUMNS}"
    if len(parts[2].lines) > MOST_DRAWN:
        yield f"the drawing has {len(parts[2].lines)} lines, more than {MOST_DRAWN}"
    if (count := len(rendered(" ".join(parts[1].lines)))) > MOST_OF_IDEA:
        yield f"the idea has {count} lines of {READ_AT} columns, more than {MOST_OF_IDEA}"
    if (count := length(brief)) > MOST_LINES:
        yield f"there are {count} lines to read at {READ_AT} columns, more than {MOST_LINES}"


def length(brief: str) -> int:
    """Return how many lines there are to read: as shown at 100 columns, without blank ones and without the drawing."""
    drawing = next((part.lines for part in blocks(brief) if part.kind == "text"), ())
    return len(rendered(brief)) - sum(1 for line in drawing if line.strip())


def spoken(brief: str) -> int:
    """Return how many words, or Chinese characters, are read aloud: all but code, drawing and numbers."""
    parts = [" ".join(part.lines) for part in blocks(brief) if part.kind in ("heading", "paragraph", "h2", "table")]
    return len(_SPOKEN.findall(" ".join(parts)))


def rendered(text: str, width: int = READ_AT) -> list[str]:
    """Return the lines of a page as a terminal shows them, without the blank ones."""
    from rich.console import Console  # noqa: PLC0415 - files are checked without it, too

    from grader.show.markdown import print_page  # noqa: PLC0415 - as above

    target = Console(width=width, force_terminal=True, color_system=None, highlight=False, markup=False, emoji=False)
    with target.capture() as captured:
        print_page(target, text)
    return [line.rstrip() for line in captured.get().splitlines() if line.strip()]


def example_of(brief: str) -> list[str]:
    """Return the lines of the example by hand."""
    return [line for part in _example(brief) for line in part.lines]


def numbers_of(brief: str) -> list[str]:
    """Return those of them that hold numbers."""
    return [line for part in _example(brief) if part.kind == "text" for line in part.lines]


def _example(brief: str) -> list[Block]:
    parts = blocks(brief)
    heads = [index for index, part in enumerate(parts) if part.kind == "h2"]
    return parts[heads[0] + 1 : heads[1]] if len(heads) > 1 else []
