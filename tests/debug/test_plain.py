"""A reference as plain code: no comments, the stub's docstrings, nothing idle, nothing unused."""

from textwrap import dedent

import pytest

from grader.debug.plain import plain, without_unused_imports

STUB = '''\
"""The task."""


def double(x):
    """Return two times x.

    # not a comment
    """
    raise NotImplementedError
'''


def body(text: str) -> str:
    """Return a function `f` with this body."""
    return "def f(x):\n" + "".join(f"    {line}".rstrip() + "\n" for line in dedent(text).strip("\n").split("\n"))


def test_comments_go_and_docstrings_are_the_stubs():
    """What gives the answer away goes; what looks like a comment in a string stays; gaps close."""
    reference = '''\
"""The task.

    double(x) = 2 x
"""

import math  # for the root


def double(x):  # twice
    """Return 2 * x."""
    # The equation.
    text = "# not a comment"

    # By hand.

    return 2 * x, text  # (n,)


def helper(x):
    """The equation again."""

    return math.sqrt(x)


class Empty:
    """Nothing else."""
'''
    assert (
        plain(reference, STUB)
        == '''\
"""The task."""

import math


def double(x):
    """Return two times x.

    # not a comment
    """
    text = "# not a comment"

    return 2 * x, text


def helper(x):
    return math.sqrt(x)


class Empty:
    """Nothing else."""
'''
    )


def test_a_stub_without_docstrings():
    """Then there are none."""
    assert plain('"""Module."""\n\nX = 1\n', "X = 2\n") == "X = 1\n"


@pytest.mark.parametrize(
    ("idle", "left"),
    [
        ("x = x * 1.0\nreturn x", "return x"),
        ("x = x / 1\nreturn x", "return x"),
        ("x = x\nreturn x", "return x"),
        ("y = x.sum()\nreturn x", "return x"),
        ("if x:\n    pass\nreturn x", "return x"),
        ("if x:\n    x = x * 1.0\nreturn x", "return x"),
        ("if True:\n    y = x\n    x = y + y\nreturn x", "y = x\nx = y + y\nreturn x"),
        ("y = x\n\nif x:\n    y = y * 1.0\n\nreturn y", "y = x\n\nreturn y"),
        ("size = x.size(0)\nx = x * 1.0\nreturn x", "return x"),
    ],
)
def test_what_does_nothing_goes(idle, left):
    """Traces of an edit that no person would leave."""
    assert plain(body(idle), "") == body(left)


@pytest.mark.parametrize(
    "meant",
    [
        "x = x * 2\nreturn x",
        "x = 1.0 * x\nreturn x",
        "x, y = x\nreturn x",
        "if x:\n    pass\nelse:\n    x = 1\nreturn x",
        "for y in x:\n    pass\nreturn x",
        "self.y = x",
        "x[0] = x[0] * 1.0\nreturn x",
        "x.fill_(0)\nreturn x",
    ],
)
def test_what_does_something_stays(meant):
    """Whatever may have an effect, or stands where a statement has to."""
    assert plain(body(meant), "") == body(meant)


def test_a_branch_keeps_what_it_needs():
    """Where nothing would be left of a branch that has to be there, the idle line stays."""
    text = body("if x:\n    return 1\nelse:\n    x = x * 1.0\nreturn x")
    assert plain(text, "") == text


def test_only_the_imports_that_a_mistake_makes_needless_go():
    """The others are none of its business."""
    before = (
        "import math\nimport os\n\nimport torch\nfrom torch import Tensor, nn\n\nx: Tensor = torch.a(math.b, nn.c)\n"
    )
    after = before.replace("torch.a(math.b, nn.c)", "torch.a")
    assert without_unused_imports(after, before) == (
        "import os\n\nimport torch\nfrom torch import Tensor\n\nx: Tensor = torch.a\n"
    )
    assert without_unused_imports(before, before) == before
