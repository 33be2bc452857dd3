"""Sentences on a terminal and in a pipe."""

import io

import pytest
from rich.console import Console

from grader.show.console import next_step
from grader.text import cells


def written(sentence: str, width: int, *, terminal: bool) -> str:
    """Return what a page ends with."""
    stream = io.StringIO()
    next_step(Console(file=stream, width=width, force_terminal=terminal, color_system=None), sentence)
    return stream.getvalue()


@pytest.mark.parametrize("width", [20, 40, 60])
def test_a_chinese_sentence_fills_its_lines(width):
    """Between Chinese characters a line may end anywhere, so that none is left half empty, and nothing is lost."""
    sentence = (
        "第一条提示，一共有五条；用命令 `kata hint masked-softmax` 可以显示下一条提示，再往前走一步就接近答案了。"  # noqa: RUF001
    )
    rows = written(sentence, width, terminal=True).splitlines()
    assert max(map(cells, rows)) <= width
    assert "".join("".join(rows).split()) == "".join(f"→ {sentence}".split())
    assert len(rows) <= cells(sentence) // width + (3 if width == 20 else 2)


def test_a_sentence_in_a_pipe_stays_on_its_line():
    """A path in it stays whole."""
    assert written("第一条" * 40, 20, terminal=False).count("\n") == 1
