"""Pictures of a failure: numbers side by side."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from grader.show import pictures
from grader.show.pictures import written


@pytest.mark.parametrize(
    ("number", "text"),
    [
        *((0.0, "·"), (0.314, ".31"), (-0.31, "-.31"), (2.49, "2.5"), (-12.4, "-12"), (123456.0, "1e5")),
        *(("nan", "NaN"), ("inf", "∞"), ("-inf", "-∞"), (0.001, ".00")),
    ],
)
def test_a_number_takes_four_places(number, text) -> None:
    """A zero is told from a small number; what is no number is a glyph."""
    assert written(number) == text
    assert len(text) <= 4


def drawn(picture: dict, width: int = 80, **more) -> str:
    """Return what is drawn on a terminal of this width."""
    stream = io.StringIO()
    pictures.show(Console(file=stream, width=width, highlight=False, markup=False, emoji=False, **more), picture)
    return stream.getvalue()


PICTURE = {
    "label": "weights[0, 1]",
    "rows": [0, 2, 2],
    "columns": [0, 3, 3],
    "expected": [[0.31, 0.69, 0.0], [1.0, 0.0, 0.0]],
    "got": [[0.21, "nan", 0.0], [1.0, 0.0, "-inf"]],
}


def test_expected_and_yours_stand_side_by_side() -> None:
    """On one scale, without colour as well; the difference beside them where there is room."""
    assert drawn(PICTURE) == (
        "    weights[0, 1]\n"
        "    expected          yours             difference\n"
        "     .31  .69    ·     .21  NaN    ·    -.10  NaN    ·\n"
        "     1.0    ·    ·     1.0    ·   -∞       ·    ·   -∞\n"
    )
    assert drawn(PICTURE, width=50) == (
        "    weights[0, 1]\n"
        "    expected          yours\n"
        "     .31  .69    ·     .21  NaN    ·\n"
        "     1.0    ·    ·     1.0    ·   -∞\n"
    )


def test_a_part_says_which_one_it_is() -> None:
    """Nothing is left out without a word."""
    assert "rows 4 to 5 of 90, columns 0 to 2 of 3" in drawn(PICTURE | {"rows": [4, 6, 90]})


def test_what_does_not_fit_is_not_drawn() -> None:
    """A narrow terminal has the sentence with the first wrong number."""
    assert drawn(PICTURE, width=30) == ""


def test_shades_are_colours_of_a_terminal_alone() -> None:
    """The numbers stay the same."""
    coloured = drawn(PICTURE, force_terminal=True, color_system="256")
    assert "\x1b[" in coloured
