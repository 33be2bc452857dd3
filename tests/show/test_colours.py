"""Colours that read on dark and on light backgrounds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.console import Console

from grader import catalog
from grader.show.code import coloured
from grader.show.console import difference, python
from grader.show.markdown import print_page

ROOT = Path(__file__).resolve().parents[2]
CODES = re.compile(r"\x1b\[([\d;]*)m")
BRIGHT = range(90, 98)
WEAK = {30, 33, 34, 36, 37}
"""Black, yellow, blue, cyan, white: each is hard to read on one of the two backgrounds."""
MARKDOWN = """# Title

1. one `code`
   - [link](https://example.com)

> quoted

---

| a | b |
|---|---|
| **1** | *2* |

```python
@decorated
class Two(nn.Module):
    \"\"\"Docs.\"\"\"

    def forward(self, x: int = 3) -> None:  # comment
        return not "text" if x is None else f"{x}" + r"raw"
```
"""


def colours(shown: str) -> set[int]:
    """Return what the escapes of a page set: colours of 256 and of 16 million count as a background, too."""
    return {int(number) for codes in CODES.findall(shown) for number in codes.split(";") if number}


def unreadable(shown: str) -> set[int]:
    """Return those of them that are backgrounds, bright, or no colour of the terminal's own."""
    return colours(shown) & {*range(40, 50), *range(100, 108), *BRIGHT, *WEAK, 38}


def page(show) -> str:
    """Return what a function prints on a terminal with all colours."""
    target = Console(width=80, force_terminal=True, color_system="truecolor", highlight=False, markup=False)
    with target.capture() as captured:
        show(target)
    return captured.get()


@pytest.mark.one_of_many(of=4)
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", catalog.katas())
def test_pages_of_a_kata(name, lang):
    """Task, hints, questions and model answer have no background and no bright colour."""
    kata = catalog.find(name)
    texts = [kata.brief(lang), kata.talk(lang), *(text for _, text in kata.hints(lang))]
    shown = page(lambda target: [print_page(target, text) for text in texts])
    shown += page(lambda target: python(target, kata.reference(lang)))
    assert unreadable(shown) == set()
    assert 35 in colours(shown)


def test_whatever_markdown_can_say():
    """Lists, links, quotes, tables and rules have none either."""
    assert unreadable(page(lambda target: print_page(target, MARKDOWN))) == set()


def test_a_difference():
    """Neither has the difference of two files."""
    shown = page(lambda target: difference(target, "a\n", "b\n", ("one", "other")))
    assert unreadable(shown) == set()
    assert {31, 32} <= colours(shown)


@pytest.mark.parametrize("theme", ["ansi_dark", "monokai"])
def test_themes_that_would_not_do(theme):
    """A theme for dark backgrounds is found out."""
    code = coloured(MARKDOWN, "python")
    code._theme = code.get_theme(theme)
    assert unreadable(page(lambda target: target.print(code)))


def test_no_weak_colour_is_named():
    """What is shown takes its colours from one place, and none that one of the backgrounds swallows."""
    weak = re.compile(r"""["'](?:[a-z]+ )*(?:black|yellow|blue|cyan|white|bright_[a-z]+)["' ]""")
    files = [path for room in ("show", "cli") for path in (ROOT / "grader" / room).glob("*.py")]
    assert [
        f"{path.name}: {line}" for path in files for line in path.read_text().splitlines() if weak.search(line)
    ] == []
    assert weak.search('Text("x", style="bold yellow")')
