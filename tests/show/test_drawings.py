"""Maps of numbers: read where they are few, seen where they are many."""

from __future__ import annotations

import io
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from grader.formats.svg import svg
from grader.show.drawings import LEVELS, UPPER, show


def drawn(numbers: list[list[float | str]], maps: int = 1, **more: object) -> dict[str, object]:
    """Make a document of a drawing."""
    rows, columns = len(numbers), len(numbers[0])
    names = {"rows": [f"row {n}" for n in range(rows)], "columns": [f"c{n}" for n in range(columns)]}
    return {
        "kind": "map",
        "label": "weights",
        "shape": [maps, rows, columns],
        "maps": [numbers] * maps,
        **names,
        **more,
    }


def lines(document: dict[str, object], width: int = 80, **more: object) -> list[str]:
    """Return what is shown."""
    out = io.StringIO()
    show(Console(file=out, width=width, **more), document, "yours")  # type: ignore[arg-type]
    return out.getvalue().splitlines()


def test_few_numbers_are_written() -> None:
    """With the names of rows and columns; what is none is a glyph."""
    assert lines(drawn([[0.5, 0.0], ["nan", "-inf"]])) == [
        "yours  weights (1, 2, 2)",
        "        c0   c1",
        "row 0  .50    ·",
        "row 1  NaN   -∞",
        "",
    ]


def test_a_curve_is_columns_of_blocks() -> None:
    """The greatest number is as high as the picture, nought is nothing, what is little is seen, no line is too long."""
    curve = {"kind": "curve", "label": "loss", "points": [[1, 6.0], [2, 3.0], [3, 0.001], [4, 0.0]]}
    assert lines(curve) == [
        "yours  loss",
        "6 █   ",
        "  █   ",
        "  █   ",
        "  ██  ",
        "  ██  ",
        "0 ██▁ ",
        "  1  4",
        "",
    ]
    many = {"kind": "curve", "label": "loss", "points": [[at, 1.0] for at in range(500)]}
    assert max(map(len, lines(many, 60))) == 60
    assert lines({"kind": "curve", "label": "loss", "points": []}) == ["yours  loss", ""]


def test_lines_are_text() -> None:
    """What a learner's code has written is cleaned of what a terminal would obey, and in a file of what is HTML."""
    told = {"kind": "lines", "label": "BLEU 1", "lines": ["go \x1b[31m<b>"]}
    assert lines(told)[0] == "yours  BLEU 1"
    assert lines(told)[1].endswith("<b>")
    assert "\x1b" not in "".join(lines(told))
    curve = {"kind": "curve", "label": "loss", "points": [[1, 2.0], [2, 1.0]]}
    picture = ET.fromstring(svg([curve, told], "reward"))
    assert any("<b>" in (node.text or "") for node in picture.iter("{http://www.w3.org/2000/svg}text"))
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}polyline"))) == 1


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_as_many_side_by_side_as_there_is_room_for(width: int) -> None:
    """No line is wider than the terminal, and every head is there."""
    shown = lines(drawn([[0.1] * 6] * 2, maps=4), width)
    assert max(map(len, shown)) <= width
    assert all(f"[{head}]" in "\n".join(shown) for head in range(4))


def test_many_numbers_are_shades_and_characters_without_colour() -> None:
    """The least is light, the greatest dark; infinities keep a glyph of their own."""
    ramp: list[float | str] = [n / 11 for n in range(11)]
    shown = lines(drawn([[*ramp, "inf"]] * 10))
    assert (
        shown[2].removeprefix("row 0 ")
        == f"{LEVELS[0] * 2}{LEVELS[1] * 2}{LEVELS[2] * 3}{LEVELS[3] * 2}{LEVELS[4] * 2}∞"
    )
    assert "light 0, dark 0.909" in shown[-2]


def test_in_colour_two_rows_share_a_line() -> None:
    """Half-blocks: the upper half is one row, the lower half the next."""
    shown = lines(drawn([[0.0, 1.0] * 6] * 9), force_terminal=True, color_system="256")
    assert sum(UPPER in line for line in shown) == 5


def test_a_part_says_so() -> None:
    """Never a cut picture without a word."""
    cut = drawn([[0.0, 1.0]] * 2, shape=[1, 2, 900])
    assert "the first 1 maps, 2 rows and 2 columns of it" in lines(cut)[1]


def test_what_a_learner_named_is_text() -> None:
    """Labels come from files; nothing of them is markup."""
    picture = svg([drawn([[0.0, 1.0]], columns=["<b>", "&"])], "<script>")
    assert "<script>" not in picture
    assert "<b>" not in picture
    assert "&lt;script&gt;" in picture
