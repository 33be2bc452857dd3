"""Maps of numbers as one picture in SVG, for pages and files."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any, Final

from grader.text import cells, clean

GLYPHS: Final = {"nan": "NaN", "inf": "∞", "-inf": "-∞"}
"""What is no number is written in this way, wherever numbers are drawn."""
HIDDEN: Final = "·"
"""An exact 0."""
NAME: Final = 8
SIDE: Final = 26
MARGIN: Final = 64
LINE: Final = 18
WIDE: Final = 420
HIGH: Final = 110
LETTER: Final = 7
STYLE: Final = """\
<style>text{font:11px ui-monospace,monospace;fill:#333}.cell{stroke:#8884;fill:#1f4e79}.back{fill:#fff}
.odd{fill:#b00020;text-anchor:middle}.curve{fill:none;stroke:#1f4e79;stroke-width:1.5}@media(prefers-color-scheme:dark){text{fill:#ddd}.back{fill:#1b1b1b}
.cell{fill:#8ec5ff}.curve{stroke:#8ec5ff}.odd{fill:#ff8a80}}</style>"""

Drawn = dict[str, Any]
Numbers = list[list[float | str]]


def heads(drawn: Drawn) -> list[str]:
    """Return what tells the maps of a drawing apart."""
    count = len(drawn["maps"])
    return [""] if count == 1 else [f"[{number}]" for number in range(count)]


def short(name: str) -> str:
    """Return the name of a row, cut where it is long."""
    name = clean(name)
    return name if cells(name) <= NAME else name[: NAME - 1] + "…"


def bounds(numbers: Numbers) -> tuple[float, float]:
    """Return the least and the greatest number, of those that are some."""
    finite = [one for row in numbers for one in row if not isinstance(one, str)]
    return min(finite, default=0.0), max(finite, default=0.0)


def share(number: float | str, low: float, high: float) -> float:
    """Return where a number lies between the least and the greatest one."""
    return 0.0 if isinstance(number, str) or high == low else (number - low) / (high - low)


def svg(drawn: list[Drawn], title: str, *, styled: bool = True) -> str:
    """Return all as one picture: in maps dark is large, what is no number is written; light and dark pages work.

    ``styled``: with a style of its own, for a file; a page may have one for it.
    """
    parts: list[str] = []
    y, width = 2 * LINE, 0
    for one in drawn:
        if one["kind"] == "curve":
            parts += _svg_curve(one, y)
            y, width = y + HIGH + 3 * LINE, max(width, WIDE)
            continue
        if one["kind"] == "lines":
            parts += _svg_lines(one, y)
            y += LINE * len(one["lines"]) + 3 * LINE
            width = max(width, WIDE, *(8 + LETTER * cells(clean(line)) for line in one["lines"]))
            continue
        for head, numbers in zip(heads(one), one["maps"], strict=True):
            parts.append(_said(4, y, f"{one['label']}{head}", "start"))
            parts += _svg_map(one, numbers, y + LINE)
            y += 2 * LINE + SIDE * len(numbers) + LINE
            width = max(width, MARGIN + SIDE * len(one["columns"]) + 8)
    size = f'width="{width}" height="{y}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" {size} role="img">'
    back = f'<rect class="back" {size}/>'
    style = [STYLE] if styled else []
    return "\n".join([head, f"<title>{escape(title, quote=False)}</title>", *style, back, *parts, "</svg>\n"])


def _svg_curve(drawn: Drawn, y: int) -> list[str]:
    """Draw numbers one after the other as a line; the least is where 0 is or below."""
    points = drawn["points"]
    parts = [_said(4, y, drawn["label"], "start")]
    if not points:
        return parts
    high = max(*(value for _at, value in points), 1e-30)
    last = max(points[-1][0], 1)
    places = [(MARGIN + (WIDE - MARGIN - 8) * at / last, y + LINE + HIGH * (1 - value / high)) for at, value in points]
    parts.append(f'<polyline class="curve" points="{" ".join(f"{left:.1f},{top:.1f}" for left, top in places)}"/>')
    parts += [_said(MARGIN - 6, y + LINE + 4, f"{high:.3g}", "end"), _said(MARGIN - 6, y + LINE + HIGH, "0", "end")]
    return [*parts, _said(WIDE - 8, y + 2 * LINE + HIGH, str(points[-1][0]), "end")]


def _svg_lines(drawn: Drawn, y: int) -> list[str]:
    heading = _said(4, y, drawn["label"], "start")
    return [heading, *(_said(8, y + LINE * at, line, "start") for at, line in enumerate(drawn["lines"], 1))]


def _svg_map(drawn: Drawn, numbers: Numbers, y: int) -> Iterator[str]:
    low, high = bounds(numbers)
    for column, name in enumerate(drawn["columns"]):
        middle = MARGIN + SIDE * column + SIDE // 2
        yield _said(middle, y - 4, name[: SIDE // 6], "middle")
    for row, (name, line) in enumerate(zip(drawn["rows"], numbers, strict=True)):
        top = y + SIDE * row
        yield _said(MARGIN - 6, top + 17, short(name), "end")
        for column, one in enumerate(line):
            left = MARGIN + SIDE * column
            dark = share(one, low, high)
            exact = escape(one, quote=False) if isinstance(one, str) else f"{one:.4g}"
            yield (
                f'<rect class="cell" x="{left}" y="{top}" width="{SIDE}" height="{SIDE}" '
                f'fill-opacity="{dark:.2f}"><title>{exact}</title></rect>'
            )
            if isinstance(one, str) or one == 0:
                glyph = GLYPHS.get(one, "?") if isinstance(one, str) else HIDDEN
                yield f'<text class="odd" x="{left + SIDE // 2}" y="{top + 17}">{glyph}</text>'


def _said(x: int, y: int, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(clean(text), quote=False)}</text>'
