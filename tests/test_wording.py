"""Stubs and model answers in Chinese: other words, the same code."""
# ruff: noqa: RUF001 - Chinese punctuation is meant

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

import pytest

from grader import catalog, wording
from grader.debug.plant import Bank, sound_text
from grader.dev import translated
from grader.text import cells

KATAS = catalog.katas()
SOURCE = dedent(
    '''\
    """Twice."""

    # Two lines
    # are one comment.
    FACTOR = 2  # (B, n)


    def double(x):
        """Return two times x².

        x  any number
        """
        raise NotImplementedError("your turn: x², twice")  # at once
    '''
)
TEXTS = {
    "docstrings": {"": "两倍。", "double": "返回 x² 的两倍。\n\nx  任意数\n"},
    "your_turn": {"x², twice": "x² 的两倍"},
    "comments": {"Two lines are one comment.": "一行就够。", "at once": "一次算完"},
}


def test_words_are_translated_and_code_is_not():
    """Docstrings, comments and the sentence of what is not written are others; shapes and code stay."""
    shown = wording.worded(SOURCE, TEXTS, "zh")
    assert shown == dedent(
        '''\
        """两倍。"""

        # 一行就够。
        FACTOR = 2  # (B, n)


        def double(x):
            """返回 x² 的两倍。

            x  任意数
            """
            raise NotImplementedError("轮到你了：x² 的两倍")  # 一次算完
        '''
    )
    assert wording.code_of(shown) == wording.code_of(SOURCE)
    assert list(wording.problems(SOURCE, TEXTS, "zh")) == []


@pytest.mark.parametrize(
    ("table", "change", "problem"),
    [
        ("docstrings", {"double": None}, "[docstrings] lacks 'double'"),
        ("docstrings", {"triple": "三倍"}, "[docstrings] has 'triple', which belongs to nothing"),
        ("comments", {"at once": None}, "[comments] lacks 'at once'"),
        ("docstrings", {"double": '"""\nx = 3\n"""'}, "changes the code"),
        ("docstrings", {"double": '"""('}, "makes something that is no Python"),
        ("remarks", {"double": "两倍"}, "[remarks] is none of"),
    ],
)
def test_a_translation_that_does_not_fit_is_told(table, change, problem):
    """What lacks a translation, what belongs to nothing and what would change the code is a problem."""
    entries = {key: text for key, text in (TEXTS.get(table, {}) | change).items() if text is not None}
    assert problem in "\n".join(wording.problems(SOURCE, TEXTS | {table: entries}, "zh"))


@pytest.mark.parametrize("name", KATAS)
def test_every_stub_is_there_in_chinese(name, english):
    """A Chinese stub has no English sentence, the code of the English one, and lines of at most 120 columns."""
    kata = KATAS[name]
    shown = kata.stub("zh")
    assert list(translated.problems(kata)) == []
    assert wording.code_of(shown) == wording.code_of(kata.stub())
    assert wording.YOUR_TURN["zh"] in shown
    assert wording.YOUR_TURN["en"] not in shown
    assert [piece.key for piece in wording.pieces(shown) if english(piece.key)] == []
    assert max(map(cells, shown.splitlines())) <= 120


@pytest.mark.parametrize("name", KATAS)
def test_every_model_answer_is_there_in_chinese(name):
    """A Chinese reader's model answer is the same code, and its words are translated."""
    kata = KATAS[name]
    shown = kata.reference("zh")
    assert shown != kata.reference()
    assert wording.code_of(shown) == wording.code_of(kata.reference())
    assert max(map(cells, shown.splitlines())) <= 120


def test_what_nobody_has_translated_is_shown_in_english(tmp_path):
    """A stub and a model answer without Chinese words are shown in English, whole and not half."""
    kata = KATAS["mha"]
    (tmp_path / "stub.py").write_text(kata.stub())
    (tmp_path / "reference.py").write_text(kata.reference())
    bare = replace(kata, folder=tmp_path, solution=tmp_path)
    assert bare.stub("zh") == kata.stub()
    assert bare.reference("zh") == kata.reference()
    assert list(wording.problems(bare.stub(), {"docstrings": {}}, "zh")) != []


@pytest.mark.one_of_many(of=3)
@pytest.mark.parametrize("name", ["masked-softmax", "mha", "translate"])
def test_a_debug_round_is_the_same_in_both_languages(name):
    """Equal seeds plant equal mistakes, and the file of a Chinese reader differs in its docstrings alone."""
    kata = KATAS[name]
    english, chinese = Bank(kata), Bank(kata, "zh")
    for seed in range(3):
        one, other = english.plant(kata.bugs, seed), chinese.plant(kata.bugs, seed)
        assert [plant.id for plant in one.plants] == [plant.id for plant in other.plants]
        assert wording.code_of(one.source) == wording.code_of(other.source)
        assert one.source != other.source
    assert wording.code_of(sound_text(kata)) == wording.code_of(sound_text(kata, "zh"))
