"""Files that do not load or lack what was asked for: one message in the place of all cases, and what to do about it."""

# ruff: noqa: RUF001 - Chinese punctuation is meant

from __future__ import annotations

import json

import pytest

from grader.client.session import Request, Session
from grader.judge.failure import Failure, from_reply
from grader.judge.loading import explained, undefined

BODY = "def {name}(x):\n    return x + x\n"
NOTEBOOK = json.dumps(
    {"cells": [{"cell_type": "code", "execution_count": None, "source": [BODY]}], "metadata": {}, "nbformat": 4}
)
BROKEN = {
    "renamed": (
        BODY.format(name="maskedSoftmx"),
        (
            "masked_softmax.py defines no masked_softmax; what it defines: maskedSoftmx. "
            "Did you mean maskedSoftmx? Call it masked_softmax"
        ),
    ),
    "others": (
        "from math import gcd\nclass One:\n    pass\n\ndef two():\n    pass\n",
        "masked_softmax.py defines no masked_softmax; what it defines: One, two",
    ),
    "empty": ("", "masked_softmax.py defines no masked_softmax: it defines nothing"),
    "notebook": (NOTEBOOK, "masked_softmax.py is a notebook, not a Python file: export it"),
    "notebook without null": ('{"cells": [], "nbformat": 4}', "masked_softmax.py is a notebook, not a Python file"),
    "magic": (
        "# %%\n%matplotlib inline\n" + BODY.format(name="double"),
        "line 2 is a command for a notebook, which Python does not know: %matplotlib inline.",
    ),
    "shell": ("!pip install einops\n", "line 1 is a command for a notebook, which Python does not know: !pip install"),
    "exported": (
        "get_ipython().run_line_magic('matplotlib', 'inline')\n",
        "line 1 calls get_ipython, which only a notebook has",
    ),
    "package": (
        "import einops_of_nobody\n",
        "the file does not load: ModuleNotFoundError: No module named 'einops_of_nobody' (it is kata's own environment",
    ),
    "syntax": (
        "def double(x):\n    return (2 * x\n",
        (
            "the file does not load: SyntaxError: '(' was never closed (masked_softmax.py, line 2)\n"
            "    return (2 * x\n"
            "           ^"
        ),
    ),
    "syntax in chinese": (
        "倍 = 2\n值 = '二倍' 倍 2\n",
        (
            "the file does not load: SyntaxError: invalid syntax (masked_softmax.py, line 2)\n"
            "    值 = '二倍' 倍 2\n"
            "                ^"
        ),
    ),
}
CHINESE = {
    "renamed": "里没有定义 masked_softmax；其中定义的是：maskedSoftmx。是不是 maskedSoftmx？请改名为 masked_softmax",
    "notebook": "masked_softmax.py 是笔记本，不是 Python 文件",
    "magic": "第 2 行是笔记本的命令",
    "package": "缺它的是 kata 自己的运行环境",
}


def graded(session: Session, source: str, lang: str = "en"):
    """Grade an answer under the name that the messages have."""
    return session.grade(Request("masked-softmax", source, "masked_softmax.py", lang=lang))


@pytest.mark.parametrize("name", BROKEN)
def test_one_message_and_no_cases(session: Session, name) -> None:
    """The report of such a file has a message that says what is wrong, and no cases."""
    source, message = BROKEN[name]
    report = graded(session, source)
    assert report["message"].startswith(message)
    assert (report["verdict"], report["cases"], report["families"]) == ("failed", [], {})
    assert report["mistakes"] == report["facts"] == []


@pytest.mark.parametrize("name", CHINESE)
def test_the_message_in_chinese(session: Session, name) -> None:
    """The message is in the reader's language."""
    assert CHINESE[name] in graded(session, BROKEN[name][0], "zh")["message"]


@pytest.mark.xdist_group("served")
def test_the_screen_shows_it_once(served) -> None:
    """A person reads the message, with the caret below its place, and no table of cases."""
    served.write("return (2 * x")
    page = served("grade", "double", code=1).stdout
    assert page.startswith("✗ double\n    the file does not load: SyntaxError: '(' was never closed")
    assert "        return (2 * x\n               ^\n" in page
    assert "core" not in page


@pytest.mark.xdist_group("served")
def test_a_watch_says_it_in_a_line(served) -> None:
    """In a pipe the first line of the message stands behind the name of the kata."""
    served.write("return (2 * x")
    process = served.process("watch", "double")
    try:
        line = process.stdout.readline()
    finally:
        process.terminate()
        process.communicate()
    assert line == "✗ double · the file does not load: SyntaxError: '(' was never closed (double.py, line 2)\n"


def test_some_of_several_entries_are_graded() -> None:
    """Where a function is not there yet, the others are graded; a wrong name of it is told at once."""
    entries = ("split_heads", "concat_heads")
    assert undefined({"missing": ["concat_heads"], "found": ["split_heads"]}, entries, "a.py") is None
    told = undefined({"missing": ["concat_heads"], "found": ["split_heads", "concatHeads"]}, entries, "a.py")
    assert told is not None
    assert "Did you mean concatHeads?" in told.message
    none = undefined({"missing": list(entries), "found": []}, entries, "a.py")
    assert none is not None
    assert none.message == "a.py defines no split_heads, concat_heads: it defines nothing"


@pytest.mark.parametrize("reply", [{}, {"missing": 3, "found": []}, {"missing": [None], "found": []}])
def test_a_forged_list_of_names_is_refused(reply) -> None:
    """What the sandbox says of the names is checked before it is used."""
    failure = undefined(reply, ("double",), "double.py")
    assert failure is not None
    assert failure.kind == "protocol"


def test_a_forged_syntax_error_points_nowhere() -> None:
    """A file that is sound has no line with a caret, whatever its process claims."""
    failure = explained(Failure("error", "SyntaxError: made up"), "x = 1\n", "a.py")
    assert failure.message == "the file does not load: SyntaxError: made up"


def test_a_long_line_is_cut_around_the_caret() -> None:
    """The place of the error is in view, however far to the right it is."""
    source = f"x = [{'1, ' * 200}2 3]\n"
    failure = explained(Failure("error", "SyntaxError: invalid syntax"), source, "a.py")
    _first, line, caret = failure.message.split("\n")
    assert len(line) < 90
    assert line[caret.index("^")] == "2"


def test_a_missing_package_in_a_call() -> None:
    """An import inside a function is explained like one at the top; a part of torch that is not there is not."""
    reply = {"kind": "error", "type": "ModuleNotFoundError", "message": "No module named 'einops'"}
    assert "kata's own environment" in from_reply(reply).message
    assert "kata's own environment" not in from_reply(reply | {"message": "No module named 'torch.rope'"}).message
