"""The page of a verdict: whole in one file, safe, and readable everywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from grader import language
from grader.formats.markup import DARK, LIGHT, POLICY, STYLE
from grader.show.html import page, pieces
from tests.formats.made import BROKEN, CAUSE, EVERY, FAILED, NASTY, NASTY_ONE, PASSED, SOURCE

VOID = {"meta", "br", "hr", "img", "link", "input"}
ALLOWED = {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "ul", "li", "span", "section"}
ALLOWED |= {"pre", "details", "summary", "mark"}
ALLOWED |= {"div", "table", "caption", "tbody", "tr", "td", "strong", "code"}
NASTY_SOURCE = f"import torch\n# </pre><script>alert(1)</script> {NASTY}\n"


@pytest.fixture(params=["en", "zh"])
def lang(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each language."""
    language.use(request.param)
    yield request.param
    language.use("en")


class Reader(HTMLParser):
    """Reads a page: its elements, whether each is closed, its text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        """Note an element."""
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        """Hold it against the one that is open."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Keep the text."""
        if self.open and self.open[-1] != "style":
            self.text += data


def read(text: str) -> Reader:
    """Return what a browser would see."""
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("name", [*EVERY, "broken"])
def test_it_is_one_whole_page(name: str, lang: str) -> None:
    """Known elements, each closed, in the reader's language; nothing is loaded and nothing runs."""
    found = read(page((EVERY | {"broken": BROKEN})[name], NASTY_SOURCE))
    assert {tag for tag, _attributes in found.seen} <= ALLOWED
    for _tag, attributes in found.seen:
        assert not {"src", "href", "style", "action"} & attributes.keys()
        assert not any(key.startswith("on") for key in attributes)
    assert ("html", {"lang": {"en": "en", "zh": "zh-Hans"}[lang]}) in found.seen
    assert {"http-equiv": "Content-Security-Policy", "content": POLICY} in [one for _tag, one in found.seen]
    assert "script-src" not in POLICY
    assert POLICY.startswith("default-src 'none'")


def test_what_a_learner_wrote_is_text() -> None:
    """Markup, control characters and reversed text reach no browser as what they are."""
    text = page(NASTY_ONE, NASTY_SOURCE)
    assert "<script>" not in text
    assert "<b>" not in text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e\ud800-\udfff]", text)
    assert "<script>alert(1)</script>" in read(text).text


def test_causes_come_first_and_their_lines_are_marked() -> None:
    """Each cause whole, with its push; every case and the file can be unfolded."""
    text = page(FAILED, SOURCE)
    assert "<h2>the scale is missing</h2>" in text
    assert "→ divide" in text
    assert "Right up to line 5." in text
    assert "<mark>   5      weights = scores</mark>" in text
    assert "<summary>2 failing cases</summary>" in text
    assert (
        text.index("the scale is missing") < text.index("2 failing cases") < text.index("masked_softmax.py</summary>")
    )


def test_a_pass_says_so() -> None:
    """Without a cause."""
    text = page(PASSED, SOURCE)
    assert '<h1 class="passed">' in text
    assert "<section>" not in text


def test_both_themes_and_narrow_windows() -> None:
    """The browser's theme decides, text breaks, and what is wide scrolls by itself; each colour can be read."""
    assert "prefers-color-scheme: dark" in STYLE
    assert "color-scheme: light dark" in STYLE
    assert "overflow-wrap: anywhere" in STYLE
    assert "overflow-x: auto" in STYLE
    assert not re.search(r"(?<!max-)\bwidth: *\d", STYLE)
    assert STYLE.count(DARK) == 2
    for theme in (LIGHT, DARK):
        colours = dict(re.findall(r"--(\w+): (#\w+)", theme))
        for ink in ("ink", "dim", "good", "bad", "warn", "code"):
            for ground in ("paper", "card"):
                assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        assert contrast(colours["ink"], colours["mark"]) >= 4.5


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours (WCAG 2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    channels = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_real_report_in_chinese_has_no_english(english) -> None:
    """All that the page says itself is translated."""
    language.use("zh")
    try:
        report = json.loads((Path(__file__).parents[1] / "golden" / "passed.json").read_text(encoding="utf-8"))
        assert english(read(page(report | {"cases": []})).text) == []
    finally:
        language.use("en")


PICTURE = {
    "label": "weights[0, 1]",
    "rows": [0, 2, 4],
    "columns": [0, 2, 2],
    "expected": [[0.31, 0.69], [1.0, 0.0]],
    "got": [[0.31, "nan"], [1.0, 0.4]],
}


def test_the_picture_of_the_terminal_stands_on_the_page() -> None:
    """Expected, yours and the difference in tables, shaded on one scale; what is wrong is not told by colour alone."""
    evidence = CAUSE["evidence"] | {"picture": PICTURE}
    text = page(FAILED | {"causes": [CAUSE | {"evidence": evidence}]})
    reader = read(text)
    assert {tag for tag, _attributes in reader.seen} <= ALLOWED
    assert "weights[0, 1] rows 0 to 1 of 4, columns 0 to 1 of 2" in reader.text
    assert re.findall(r"<caption>(.*?)</caption>", text) == ["expected", "yours", "difference"]
    assert re.findall(r"<strong>(.*?)</strong>", text) == ["NaN", ".40"]
    assert text.count('<td class="shade5">1.0</td>') == 2
    assert '<td class="shade2 off"><strong>.40</strong></td>' in text
    assert text.count("<td>·</td>") == 1 + 2  # expected, and where there is no difference


def test_names_in_sentences_are_code_and_nothing_else() -> None:
    """What stands between backticks is escaped like all the rest."""
    found = page(FAILED | {"causes": [CAUSE | {"explain": "see `a < b` and `<img src=x>` or ` alone"}]})
    assert "see <code>a &lt; b</code> and <code>&lt;img src=x&gt;</code> or ` alone" in found


def test_a_page_within_a_page_has_its_headings_below() -> None:
    """The verdict is a part of something else there."""
    text = "".join(pieces(FAILED, "", whole=True, level=2))
    assert re.findall(r"<h(\d)", text) == ["2", "3", "3"]
