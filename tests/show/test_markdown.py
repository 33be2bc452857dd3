"""Pages of Markdown on a terminal: where lines break, and that nothing has a background."""
# ruff: noqa: RUF001 - Chinese punctuation is meant

import pytest
from rich.console import Console

from grader.show.markdown import hanging, joined, print_page
from grader.text import breaks, cells

CHINESE = """# 标题

把 `d_model` 切成若干段，每段各做一次缩放点积注意力，
再拼起来，由 `W_o` 混合；两个头各看
各的，见 `kata help rules`。

| 情形 | 结果 |
|---|---|
| 一个键也看不到的查询，哪怕只有这一个词元也一样 | 权重为 0，输出等于 `W_o` 的偏置 |
"""


def page(text: str, width: int, **more) -> str:
    """Render a page."""
    target = Console(width=width, force_terminal=True, highlight=False, markup=False, emoji=False, **more)
    with target.capture() as captured:
        print_page(target, text)
    return captured.get()


@pytest.mark.parametrize("width", [24, 40, 60])
def test_chinese_fills_its_lines(width):
    """A Chinese paragraph breaks between characters: no line ends long before it is full, none is too long."""
    lines = [line.rstrip() for line in page(CHINESE, width, color_system=None).splitlines()]
    assert all(cells(line) <= width for line in lines)
    begin = next(index for index, line in enumerate(lines) if line.startswith("把"))
    end = lines.index("", begin)
    assert all(cells(line) > width - 18 for line in lines[begin : end - 1])
    assert not [line for line in lines if line.strip().startswith(("，", "；", "。", "、"))]


def test_a_line_break_in_the_file_is_no_space():
    """Between two Chinese characters and behind Chinese punctuation nothing stands for the end of a line."""
    assert "再拼起来，由" in joined(CHINESE)
    assert "各看各的" in joined(CHINESE)
    assert joined("one\ntwo，\nthree") == "one\ntwo，three"
    assert joined("一\n\n二，\n\n- 三") == "一\n\n二，\n\n- 三"
    assert joined("```text\n一\n二\n```") == "```text\n一\n二\n```"


def test_a_heading_stays_a_line_of_its_own():
    """Text right below a Chinese heading does not become a part of it."""
    assert joined("## 算一遍\n四个词元\n一个头\n## 边界情形\n") == "## 算一遍\n四个词元一个头\n## 边界情形\n"


def test_short_code_stays_in_one_piece():
    """Code of a few words inside a sentence is not broken, longer code is."""
    text = "see the table of rules that `kata help rules` shows, or " + "`a b " * 12 + "`"
    for width in range(20, 40):
        lines = page(text, width, color_system=None).splitlines()
        assert any("kata help rules" in line for line in lines)
        assert all(cells(line) <= width for line in lines)


def test_nothing_has_a_background():
    """Text, code inside it and blocks of code leave the terminal's background alone, whatever it is."""
    shown = page("# T\n\nText and `code`.\n\n```python\ndef f(x):\n    return 1\n```\n", 60, color_system="standard")
    codes = {part for sequence in shown.split("\x1b[")[1:] for part in sequence.partition("m")[0].split(";")}
    assert not codes & {*map(str, range(40, 49)), *map(str, range(100, 108)), "7"}
    assert codes


def test_a_long_signature_hangs():
    """What does not fit of a line of Python is indented below it, as a comment where it is one."""
    assert hanging("    def f(self, queries, keys, values)", 30) == [
        "    def f(self, queries, keys,",
        "            values)",
    ]
    assert hanging("    # W_q, W_k, W_v: nn.Linear", 24) == ["    # W_q, W_k, W_v:", "    # nn.Linear"]
    assert hanging("short", 10) == ["short"]
    assert hanging("x" * 40, 10) == ["x" * 40]


def test_a_word_that_is_too_long_is_folded_where_it_must_be():
    """Only with `fold` is a word broken, and then it fits."""
    assert breaks("a" * 25, 10) == []
    assert breaks("a" * 25, 10, fold=True) == [10, 20]
    assert breaks("ab " + "掩" * 4, 5, fold=True) == [4, 6]
