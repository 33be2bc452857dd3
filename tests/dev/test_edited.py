"""Answers that are kept as edits of another one."""

from __future__ import annotations

import textwrap

import pytest

from grader.dev.edited import text_of
from grader.errors import BadKataFile

BASE = """\
# family: core
# mistake: none
def twice(x):
    y = x + x

    return y


def thrice(x):
    return x + x + x
"""
HEAD = "# family: grad\n# mistake: detached\n# base: one/wrong/base.py\n"


@pytest.fixture
def kept(tmp_path):
    """A function that reads what a `.diff` with these edits stands for."""
    folder = tmp_path / "answers" / "one" / "wrong"
    folder.mkdir(parents=True)
    (folder / "base.py").write_text(BASE)
    (tmp_path / "solutions" / "one").mkdir(parents=True)
    (tmp_path / "solutions" / "one" / "reference.py").write_text(BASE.replace("twice", "double"))

    def read(edits: str, head: str = HEAD) -> str:
        path = folder / "other.diff"
        path.write_text(head + textwrap.dedent(edits).lstrip("\n"))
        return text_of(path, tmp_path / "answers", tmp_path / "solutions")

    return read


def test_edits_are_made_in_the_base(kept):
    """Lines go, stay and come, and the first two lines are the answer's own."""
    text = kept("""
        @@
        -    y = x + x
        +    y = (x + x).detach()

             return y
        @@
         def thrice(x):
        +    # three times
        """)
    own = "# family: grad\n# mistake: detached\n"
    body = BASE.split("\n", 2)[2].replace("x + x\n\n", "(x + x).detach()\n\n")
    assert text == own + body.replace("thrice(x):\n", "thrice(x):\n    # three times\n")


def test_a_correct_answer_has_no_first_lines(kept):
    """What stands above the base belongs to the text; the line that names the base does not."""
    text = kept("@@\n-    y = x + x\n+    y = 2 * x\n", "# base: one/wrong/base.py\n")
    assert text == BASE.split("\n", 2)[2].replace("x + x\n\n", "2 * x\n\n")


def test_a_model_answer_is_a_base(kept):
    """`KATA/reference.py` is that of the solutions."""
    text = kept(
        "@@\n-def double(x):\n+def twofold(x):\n", "# family: core\n# mistake: none\n# base: one/reference.py\n"
    )
    assert text == BASE.replace("twice", "twofold")


@pytest.mark.parametrize(
    ("edits", "problem"),
    [
        ("@@\n-    y = x * x\n+    y = x\n", "edit 1: its lines stand 0 times in the base, not once"),
        ("@@\n \n+\n", "edit 1: its lines stand 3 times in the base, not once"),
        ("@@\n+x = 1\n", "edit 1: its lines stand"),
        ("@@\n def thrice(x):\n+    pass\n@@\n def twice(x):\n+    pass\n", "edit 2: stands before the edit above it"),
        ("@@\n-    y = x + x\n*    y = x\n", "edit 1: '*    y = x' begins with none of"),
        ("", "must name its base before the first"),
    ],
)
def test_edits_that_do_not_fit_are_refused(kept, edits, problem):
    """A base that has changed is told with file and edit, never patched in some place."""
    with pytest.raises(BadKataFile) as caught:
        kept(edits, HEAD if edits else "# family: core\n# mistake: none\n")
    assert problem in str(caught.value)
    assert "other.diff" in str(caught.value)


def test_a_base_that_is_not_there_is_told(kept):
    """The file that names it is told too."""
    with pytest.raises(BadKataFile, match=r"the base of .*other\.diff"):
        kept("@@\n-x\n+y\n", "# base: one/wrong/gone.py\n")
