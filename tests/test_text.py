"""What a learner's text may do to a terminal: nothing."""
# ruff: noqa: RUF001 - Chinese punctuation is meant

from pathlib import Path

import pytest

from grader.text import cells, clean, lines, shown


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        (
            "plain text, 中文, naïve √d, 👩‍💻\twith a tab\nand a line",
            "plain text, 中文, naïve √d, 👩‍💻\twith a tab\nand a line",
        ),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]8;;http://a.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;cGFzdGU=\x07", ""),
        ("\x9b2Jcleared", "cleared"),
        ("\x1b[2J\x1b[H\x1bcreset", "reset"),
        ("\x1bPdevice control\x1b\\x", "x"),
        ("ends in \x1b", "ends in \\x1b"),
        ("bell \x07 back \x08 null \x00", "bell \\x07 back \\x08 null \\x00"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("\u202etxt.exe\u202c \u2066x\u2069", "\\u202etxt.exe\\u202c \\u2066x\\u2069"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("lone \ud800 surrogate", "lone \\ud800 surrogate"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("[bold red]markup[/]", "[bold red]markup[/]"),
        (b"bytes \xff\xfe and \xc3\xa9", "bytes \\xff\\xfe and é"),
        (b"\xc2\x9b31m", ""),
    ],
)
def test_nothing_acts_on_the_terminal(text, cleaned):
    """Sequences go, other control and invisible characters are written out, the rest stays; twice is once."""
    assert clean(text) == cleaned
    assert clean(cleaned) == cleaned
    cleaned.encode()


def test_every_control_character_is_caught():
    """No control character but newline and tab survives, alone or behind an escape."""
    for code in [*range(32), *range(0x7F, 0xA0)]:
        for text in (chr(code), "\x1b" + chr(code), chr(code) + "x"):
            assert all(character.isprintable() or character in "\n\t" for character in clean(text)), hex(code)


@pytest.mark.parametrize("text", ["x" * 10**6, "\x00" * 10**6, "\x1b]" * 10**6, "\x1b[31m" * 10**6, b"\xff" * 10**6])
def test_a_flood_is_cut(text):
    """However long the text is, the result keeps the limit, says that it was cut, and is the same when cut again."""
    for limit in (0, 3, 10, 4000):
        cut = clean(text, limit)
        assert len(cut) <= limit
        assert clean(cut, limit) == cut
    assert clean(text).endswith("… [cut]")


def test_a_path_is_shown_from_here(tmp_path: Path, monkeypatch):
    """Below the current folder a path is relative, elsewhere absolute; control characters never show."""
    monkeypatch.chdir(tmp_path)
    assert shown(tmp_path / "workspace" / "mha.py") == "workspace/mha.py"
    assert shown(Path("a\x1b[31m.py")) == "a.py"
    assert shown(Path("../other.py")) == str(tmp_path.parent / "other.py")


@pytest.mark.parametrize(("text", "columns"), [("mha", 3), ("掩码", 4), ("`mask` 是 None。", 16), ("", 0)])
def test_columns_of_a_text(text, columns):
    """Chinese characters and full-width punctuation take two columns."""
    assert cells(text) == columns


@pytest.mark.parametrize("width", [12, 20, 31, 80])
def test_lines_of_a_text_with_wide_characters(width):
    """Lines fit, no word is cut, no line begins with what closes something, and nothing is lost."""
    text = "把答案写进 workspace/mha.py，然后运行 kata grade（次数不限）：每一次都会保留。"
    broken = lines(text, width)
    words = {"workspace/mha.py", "kata", "grade"}
    assert all(cells(line) <= width or line.rstrip("，") in words for line in broken)
    assert "".join(broken).replace(" ", "") == text.replace(" ", "")
    assert not [line for line in broken[1:] if line[0] in "，。：）"]
    assert all(any(word in line for line in broken) for word in words)


def test_lines_of_an_english_text():
    """Words are kept whole, and a line break is a space."""
    assert lines("one two\nthree four", 9) == ["one two", "three", "four"]
    assert lines("", 10) == [""]
