"""The reference of a kata that continues another one."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from grader import catalog
from grader.continued import behind
from grader.errors import BadKataFile

EARLIER = '"""Twice."""\n\nimport torch\n\nPair = tuple\n\n\ndef twice(x):\n    return torch.add(x, x)\n'
LATER = '"""Four times."""\n\nimport math\n\nimport torch\nfrom twice import twice\n\n\n'
LATER += "def four(x):\n    return twice(twice(x))\n"
CONTINUED = [kata for kata in catalog.katas().values() if kata.continues]


def test_both_stand_in_one_file():
    """The docstring is the later one's, each import stands once, above, and none of the earlier kata's names."""
    assert behind(EARLIER, LATER, "twice") == (
        '"""Four times."""\n\nimport torch\nimport math\n\nPair = tuple\n\n\n'
        "def twice(x):\n    return torch.add(x, x)\n"
        "\n\ndef four(x):\n    return twice(twice(x))\n"
    )


@pytest.mark.parametrize("kata", CONTINUED, ids=[kata.id for kata in CONTINUED])
def test_a_reference_of_the_course_is_whole(kata):
    """What a learner reads in the end has the earlier kata's definitions and its own, and names no file beside it."""
    tree = ast.parse(kata.reference())
    names = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert names >= {*catalog.find(kata.continues).entry, *kata.entry}
    assert {node.module for node in tree.body if isinstance(node, ast.ImportFrom)} <= {"torch", "collections.abc"}


def test_a_line_is_told_where_it_is_written():
    """An author is sent to a line of the file that holds it."""
    kata = catalog.find("translate")
    lines = (kata.solution / "reference.py").read_text().splitlines()
    assert kata.reference_place(len(kata.reference().splitlines())) == f"reference.py:{len(lines)}"
    assert "solutions/transformer/reference.py" in kata.reference_place(40)


@pytest.fixture
def small(tmp_path):
    """The kata `four`, which continues `twice`, and the folder of both."""
    toml = (catalog.find("mha").folder / "kata.toml").read_text()
    for name, text in (("twice", EARLIER), ("four", LATER)):
        (tmp_path / "katas" / name).mkdir(parents=True)
        (tmp_path / "solutions" / name).mkdir(parents=True)
        (tmp_path / "katas" / name / "kata.toml").write_text(toml)
        (tmp_path / "solutions" / name / "reference.py").write_text(text)
    folders = {"folder": tmp_path / "katas" / "four", "solution": tmp_path / "solutions" / "four"}
    return replace(catalog.find("mha"), id="four", continues="twice", **folders)


def test_katas_that_continue_each_other_are_refused(small):
    """A circle is named, with the file and the key to change."""
    toml = small.folder.parent / "twice" / "kata.toml"
    toml.write_text(toml.read_text() + 'continues = "four"\n')
    with pytest.raises(BadKataFile, match=r"kata\.toml: continues: .* continues this kata in turn"):
        small.reference()


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("solutions/four/reference.py", "def four(x:\n", r"four.reference\.py: line 1"),
        ("solutions/twice/reference.py", None, r"twice.reference\.py: is missing"),
        ("katas/twice/kata.toml", None, r"twice.kata\.toml"),
    ],
)
def test_what_cannot_be_put_together_is_told(small, tmp_path, file, text, problem):
    """A text that is no Python and a kata that is not there are named by their file."""
    if text is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_text(text)
    with pytest.raises(BadKataFile, match=problem):
        small.reference()
