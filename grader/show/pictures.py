"""Numbers side by side, shaded by their size: expected, what came, and the difference where there is room for it.

Without colour the numbers say it all.
"""

from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from grader.formats.svg import GLYPHS, HIDDEN
from grader.language import _
from grader.text import cells, clean

CELL = 5
SHADES = ("", "grey93", "grey82", "grey70", "grey58", "grey46")
BELOW_ONE, BELOW_TEN, BELOW_A_THOUSAND = 0.995, 9.95, 999.5
"""As they are rounded."""
BETWEEN = 3
BY = 4

BOTH = 2
"""So many sides are the least: expected and yours."""

Number = float | str


class Side(NamedTuple):
    """One of the tables that stand side by side, and which of its numbers are wrong."""

    name: str
    rows: list[list[Number]]
    wrong: list[list[bool]]


def lines(picture: dict[str, Any], width: int) -> list[Text]:
    """Return a picture in lines, expected and what came side by side, the difference beside them where there is room.

    No lines where not even two sides fit.
    """
    one = CELL * len(picture["expected"][0]) if picture["expected"] else 0
    fitting = (width - BY + BETWEEN) // (one + BETWEEN)
    if fitting < BOTH or not one:
        return []
    head, scale, shown = Text(head_of(picture), style="dim"), scale_of(picture), sides(picture)[:fitting]
    names = (_padded(side.name, one) for side in shown)
    found = [*([head] if head else []), Text((" " * BETWEEN).join(names).rstrip(), style="dim")]
    for place in range(len(picture["expected"])):
        parts = (_row(side.rows[place], side.wrong[place], scale) for side in shown)
        found.append(Text(" " * BETWEEN).join(parts))
    return found


def _row(numbers: list[Number], wrong: list[bool], scale: float) -> Text:
    row = Text()
    for number, is_wrong in zip(numbers, wrong, strict=True):
        style = _shade(number, scale)
        row.append(_cell(number), f"bold {'red' if not style else 'dark_red'} {style}".strip() if is_wrong else style)
    return row


def sides(picture: dict[str, Any]) -> list[Side]:
    """Return what stands side by side: expected, what came, and the difference."""
    wrong = [
        [a != b for a, b in zip(*rows, strict=True)] for rows in zip(picture["expected"], picture["got"], strict=True)
    ]
    right = [[False] * len(row) for row in wrong]
    return [
        Side(_("expected"), picture["expected"], right),
        Side(_("yours"), picture["got"], wrong),
        Side(_("difference"), _differences(picture), right),
    ]


def head_of(picture: dict[str, Any]) -> str:
    """Return what a picture is of; empty where nobody need say it."""
    label = f"{clean(picture['label'])} " if picture["label"] else ""
    return label + _part(picture)


def scale_of(picture: dict[str, Any]) -> float:
    """Return the largest size of its numbers: both sides have one scale."""
    rows = (*picture["expected"], *picture["got"])
    return max((abs(n) for row in rows for n in row if not isinstance(n, str)), default=0.0)


def _differences(picture: dict[str, Any]) -> list[list[Number]]:
    """Return by how much each number is off; what is none on one side alone is what came."""

    def off(expected: Number, came: Number) -> Number:
        if expected == came:
            return 0.0
        return came if isinstance(expected, str) or isinstance(came, str) else came - expected

    pairs = zip(picture["expected"], picture["got"], strict=True)
    return [[off(*two) for two in zip(left, right, strict=True)] for left, right in pairs]


def show(console: Console, picture: dict[str, Any]) -> None:
    """Draw a picture below a cause."""
    for line in lines(picture, console.width):
        line.rstrip()
        console.print(Text(" " * BY) + line)


def _part(picture: dict[str, Any]) -> str:
    """Say which part of it is to be seen, where it is not all of it."""
    (top, bottom, rows), (left, right, columns) = picture["rows"], picture["columns"]
    if (bottom - top, right - left) == (rows, columns):
        return ""
    sentence = _("rows {top} to {bottom} of {rows}, columns {left} to {right} of {columns}")
    return sentence.format(top=top, bottom=bottom - 1, rows=rows, left=left, right=right - 1, columns=columns)


def cell(number: Number, scale: float) -> tuple[str, str]:
    """Return a number as it is written, and in which style: the darker its ground, the larger it is."""
    return _cell(number), _shade(number, scale)


def _cell(number: Number) -> str:
    return f"{written(number):>{CELL - 1}} "


def written(number: Number) -> str:
    """Write a number in four places; an exact 0 is a dot."""
    if isinstance(number, str):
        return GLYPHS.get(number, "?")
    if number == 0:
        return HIDDEN
    size = abs(number)
    if size < BELOW_ONE:
        return f"{number:.2f}".replace("0.", ".", 1)
    if size < BELOW_TEN:
        return f"{number:.1f}"
    if size < BELOW_A_THOUSAND:
        return f"{number:.0f}"
    mantissa, _e, exponent = f"{number:.0e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def shade_of(number: Number, scale: float) -> int:
    """Return how large a number is beside the largest, from 0 to 5."""
    if isinstance(number, str) or not scale or not number:
        return 0
    return min(len(SHADES) - 1, int(len(SHADES) * abs(number) / scale))


def _shade(number: Number, scale: float) -> str:
    shade = SHADES[shade_of(number, scale)]
    return f"grey3 on {shade}" if shade else ""


def _padded(text: str, width: int) -> str:
    return text + " " * max(0, width - cells(text))
