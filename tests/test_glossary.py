"""Words that Chinese texts of the project avoid, as docs/glossary.md lists them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROWS = re.findall(r"^\| (.+?) \| (.+?) \| (.*?) ?\|$", (ROOT / "docs" / "glossary.md").read_text("utf-8"), re.MULTILINE)
AVOIDED = [
    (pattern.replace("\\|", "|"), chinese) for _, chinese, words in ROWS for pattern in re.findall(r"`(.+?)`", words)
]
TEXTS = [
    *sorted((ROOT / "katas").glob("*/*.zh.md")),
    *sorted((ROOT / "katas").glob("*/stub.zh.toml")),
    *sorted((ROOT / "solutions").glob("*/*.zh.toml")),
    ROOT / "solutions" / "words.zh.toml",
    *sorted((ROOT / "solutions").glob("*/mistakes.toml")),
    ROOT / "grader" / "locale" / "zh" / "LC_MESSAGES" / "kata.po",
    ROOT / "docs" / "rules.zh.md",
    ROOT / "README.zh.md",
]
CHINESE = "\u4e00-\u9fff"
HALF_WIDTH = re.compile(rf"[{CHINESE}][,;:?!](?=\s*[{CHINESE}]|$)|[{CHINESE}]\.$")


def name(path: Path) -> str:
    """Return how a test of a file is called."""
    return str(path.relative_to(ROOT))


def avoided_in(text: str) -> list[str]:
    """Return the lines of a text with a word to avoid, and what to write."""
    return [
        f"{number}: {line.strip()} → {chinese}"
        for number, line in enumerate(text.splitlines(), 1)
        for pattern, chinese in AVOIDED
        if re.search(pattern, line)
    ]


@pytest.mark.parametrize("path", TEXTS, ids=name)
def test_words_of_the_glossary(path):
    """Every Chinese text has the glossary's words, and none of those that it says to avoid."""
    assert avoided_in(path.read_text("utf-8")) == []


@pytest.mark.parametrize("path", TEXTS, ids=name)
def test_full_width_punctuation(path):
    """A Chinese sentence has Chinese punctuation."""
    lines = path.read_text("utf-8").splitlines()
    assert [line for line in lines if HALF_WIDTH.search(re.sub(r"`[^`]*`|\([^()]*\)", "", line))] == []


@pytest.mark.parametrize("wrong", ["键被隐藏", "缺省为 0", "批大小", "借道 float32", "抽样", "n 元", "共同的水平"])
def test_words_to_avoid_are_found(wrong):
    """The words that the glossary names are looked for."""
    assert avoided_in(wrong)


@pytest.mark.parametrize("right", ["隐藏状态", "隐藏单元", "批量大小", "采样", "被屏蔽的键"])
def test_words_that_are_meant_are_left_alone(right):
    """A hidden state is hidden, and a mask masks."""
    assert avoided_in(right) == []
