"""Maps of what an answer computes: numbers where they are few, else shades of grey.

Up to eight columns people read numbers; of more they see a pattern. What is no number (NaN, infinities) and an exact 0
are glyphs, not shades, and without colours the shades are characters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.style import Style
from rich.text import Text

from grader.formats.svg import GLYPHS, Drawn, Numbers, bounds, heads, share, short
from grader.language import _
from grader.show.pictures import CELL, cell
from grader.text import cells, clean

MOST_NUMBERS: Final = 8
BETWEEN: Final = "   "
LEVELS: Final = "·░▒▓█"
RAMP: Final = (255, 252, 249, 246, 243, 240, 237, 234)
"""Greys of the 256 colours, from light to dark."""
UPPER: Final = "▀"
EIGHTHS: Final = "▁▂▃▄▅▆▇█"
HEIGHT: Final = 6
"""So many lines is a curve high."""


def show(console: Console, drawn: Drawn, title: str) -> None:
    """Draw one result: its maps, as many side by side as there is room for; a curve; lines of text."""
    if drawn["kind"] == "curve":
        _curve(console, drawn, title)
        return
    if drawn["kind"] == "lines":
        console.print(Text.assemble((f"{title}  ", "bold"), (drawn["label"], "dim")))
        for line in drawn["lines"]:
            console.print(Text(clean(line)), overflow="fold")
        console.print()
        return
    shape = ", ".join(map(str, drawn["shape"]))
    console.print(Text.assemble((f"{title}  ", "bold"), (f"{drawn['label']} ({shape})", "dim")))
    if part := _part(drawn):
        console.print(Text(part, style="dim"))
    blocks = [_block(console, drawn, numbers, head) for head, numbers in zip(heads(drawn), drawn["maps"], strict=True)]
    width = max(cells(line.plain) for block in blocks for line in block)
    beside = max(1, (console.width + len(BETWEEN)) // (width + len(BETWEEN)))
    for start in range(0, len(blocks), beside):
        row = blocks[start : start + beside]
        for lines in zip(*row, strict=True):
            whole = Text()
            for line in lines:
                whole.append_text(line)
                whole.append(" " * (width - cells(line.plain)) + BETWEEN)
            whole.rstrip()
            console.print(whole, no_wrap=True, overflow="crop")
        console.print()


def _curve(console: Console, drawn: Drawn, title: str) -> None:
    """Draw numbers one after the other as columns of blocks."""
    console.print(Text.assemble((f"{title}  ", "bold"), (drawn["label"], "dim")))
    points = drawn["points"]
    if points:
        high = max(value for _at, value in points)
        names = [f"{high:.3g}", *[""] * (HEIGHT - 2), "0"]
        margin = max(map(cells, names)) + 1
        shown = points[-max(1, console.width - margin) :]
        for row, name in enumerate(names):
            floor = HEIGHT - 1 - row
            bar = "".join(_eighths(value / high * HEIGHT - floor if high > 0 else 0.0) for _at, value in shown)
            console.print(Text.assemble((f"{name:>{margin - 1}} ", "dim"), bar), no_wrap=True, overflow="crop")
        first, last = (str(at) for at, _value in (shown[0], shown[-1]))
        told = f"{' ' * margin}{first}{last:>{max(1, len(shown) - len(first))}}"
        console.print(Text(told, style="dim"), no_wrap=True, overflow="crop")
    console.print()


def _eighths(height: float) -> str:
    """Return a block of a height between 0 and 1; what is not nought is seen."""
    if height <= 0:
        return " "
    return EIGHTHS[min(len(EIGHTHS), max(1, round(height * len(EIGHTHS)))) - 1]


def _part(drawn: Drawn) -> str:
    """Say what is not to be seen, where that is something."""
    *front, rows, columns = drawn["shape"]
    seen = (len(drawn["maps"]), len(drawn["rows"]), len(drawn["columns"]))
    if seen == (math.prod(front), rows, columns):
        return ""
    sentence = _("the first {maps} maps, {rows} rows and {columns} columns of it")
    return sentence.format(maps=seen[0], rows=seen[1], columns=seen[2])


def _block(console: Console, drawn: Drawn, numbers: Numbers, head: str) -> list[Text]:
    """Return one map in lines, its head first."""
    rows, columns = ([short(name) for name in drawn[axis]] for axis in ("rows", "columns"))
    margin = max(cells(name) for name in rows) + 1
    if max(len(rows), len(columns)) <= MOST_NUMBERS and margin + CELL * len(columns) <= console.width:
        return _in_numbers(numbers, rows, columns, head, margin)
    return [*_in_shades(console, numbers, rows, head, margin), _legend(numbers, margin)]


def _in_numbers(numbers: Numbers, rows: list[str], columns: list[str], head: str, margin: int) -> list[Text]:
    top = "".join(f"{name[: CELL - 1]:>{CELL - 1}} " for name in columns)
    scale = max((abs(one) for row in numbers for one in row if not isinstance(one, str)), default=0.0)
    lines = [Text(f"{head:<{margin}}{top}", style="dim")]
    for name, row in zip(rows, numbers, strict=True):
        line = Text.assemble((f"{name:<{margin}}", "dim"))
        for one in row:
            text, style = cell(one, scale)
            line.append(text, style)
        lines.append(line)
    return lines


def _in_shades(console: Console, numbers: Numbers, rows: list[str], head: str, margin: int) -> Iterator[Text]:
    low, high = bounds(numbers)
    yield Text(f"{head:<{margin}}", style="dim")
    finite = all(not isinstance(one, str) for row in numbers for one in row)
    if finite and console.color_system in ("256", "truecolor"):
        for place in range(0, len(numbers), 2):
            line = Text.assemble((f"{rows[place]:<{margin}}", "dim"))
            below = numbers[place + 1] if place + 1 < len(numbers) else None
            for column, one in enumerate(numbers[place]):
                back = f"color({_grey(below[column], low, high)})" if below else None
                line.append(UPPER, Style(color=f"color({_grey(one, low, high)})", bgcolor=back))
            yield line
        return
    for name, row in zip(rows, numbers, strict=True):
        line = Text.assemble((f"{name:<{margin}}", "dim"))
        line.append("".join(_density(one, low, high) for one in row))
        yield line


def _legend(numbers: Numbers, margin: int) -> Text:
    low, high = bounds(numbers)
    return Text(" " * margin + _("light {low:.3g}, dark {high:.3g}").format(low=low, high=high), style="dim")


def _grey(number: float | str, low: float, high: float) -> int:
    return RAMP[round(share(number, low, high) * (len(RAMP) - 1))]


def _density(number: float | str, low: float, high: float) -> str:
    if isinstance(number, str):
        return GLYPHS.get(number, "?")[-1]
    return LEVELS[round(share(number, low, high) * (len(LEVELS) - 1))]
