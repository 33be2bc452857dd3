"""What was planted, as a learner reads it in the end."""

import io

import pytest
from rich.console import Console

from grader.debug.plant import Change, Plant, Planted
from grader.show.debugging import reveal

CHANGE = Change(
    7,
    ("        weights = torch.softmax(scores, dim=-2)", "", "            again()"),
    ("        weights = torch.softmax(scores, dim=-1)",),
)
PLANT = Plant(
    "softmax-over-queries",
    {"en": "softmax over the queries", "zh": "沿查询做了 softmax"},
    {
        "en": "This is what you get when columns add up to 1. " * 3,
        "zh": "softmax 沿着查询这一维做了。每列之和为 1 。" * 3,
    },
    {"en": "", "zh": ""},
    (CHANGE,),
)


def shown(lang: str, width: int) -> list[str]:
    """Return the lines that a learner would see."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, markup=False, emoji=False)
    reveal(console, Planted("", "", (PLANT,)), lang)
    return stream.getvalue().splitlines()


def test_lines_before_and_after_without_their_margin():
    """What was planted is marked with a minus, what stood there with a plus; the indent between lines stays."""
    lines = shown("en", 80)
    start = lines.index("    line 7")
    assert lines[start + 1 : start + 5] == [
        "    - weights = torch.softmax(scores, dim=-2)",
        "    -",
        "    -     again()",
        "    + weights = torch.softmax(scores, dim=-1)",
    ]


@pytest.mark.parametrize("width", [40, 80])
def test_explanations_fit_the_terminal(width):
    """In both languages; a Chinese character takes two columns. Code is not broken."""
    for lang in ("en", "zh"):
        texts = [line for line in shown(lang, width) if not line.startswith(("    -", "    +"))]
        assert max(len(line) + sum(ord(character) > 0x2E7F for character in line) for line in texts) <= width
