"""Which paths are granted: an allow-list without subtraction, so that a tree with secrets is granted entry by entry."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from grader.sandbox.landlock import around, readable


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder of packages with a secret deep inside."""
    for name in ("torch/lib.so", "grader/cli.py", "grader/bundled/solutions/mha/reference.py", "six.py"):
        path = tmp_path / "packages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return (tmp_path / "packages").resolve()


def granted(root: Path, *hidden: Path) -> set[str]:
    """Return the granted paths, relative to the root."""
    return {str(path.relative_to(root)) for path in around(root, hidden)}


def test_nothing_hidden(tree: Path) -> None:
    """A tree without secrets is one grant."""
    assert granted(tree) == {"."}
    assert granted(tree, tree.parent / "elsewhere") == {"."}


def test_a_folder_inside(tree: Path) -> None:
    """What lies beside the hidden folder is granted entry by entry, on each level."""
    assert granted(tree, tree / "grader") == {"torch", "six.py"}
    assert granted(tree, tree / "grader" / "bundled" / "solutions") == {"torch", "six.py", "grader/cli.py"}


def test_a_file_inside(tree: Path) -> None:
    """A single file can be hidden too."""
    assert granted(tree, tree / "six.py") == {"torch", "grader"}


def test_the_root_itself(tree: Path) -> None:
    """A hidden root grants nothing, nor does one below it."""
    assert granted(tree, tree) == set()
    assert granted(tree, tree, tree / "grader") == set()


def test_several_hidden_paths(tree: Path) -> None:
    """All of them are carved out."""
    assert granted(tree, tree / "grader" / "bundled", tree / "torch") == {"six.py", "grader/cli.py"}


def test_links_do_not_lead_back(tree: Path) -> None:
    """A link beside the secret is not granted: what it points to might be the secret."""
    (tree / "shortcut").symlink_to(tree / "grader" / "bundled")
    (tree / "copy.py").symlink_to(tree / "six.py")
    assert granted(tree, tree / "grader" / "bundled" / "solutions") == {"torch", "six.py", "grader/cli.py"}


def test_a_root_that_is_a_link(tree: Path) -> None:
    """The root is looked at where it really is."""
    link = tree.parent / "link"
    link.symlink_to(tree)
    assert {path.name for path in around(link, [tree / "grader"])} == {"torch", "six.py"}


def test_what_python_reads(tmp_path: Path) -> None:
    """The standard library and the packages are readable; of a hidden folder in them, nothing is."""
    paths = set(readable([]))
    standard = Path(sysconfig.get_paths()["stdlib"]).resolve()
    assert any(path == standard or path in standard.parents for path in paths)
    hidden = Path(pytest.__file__).parent.resolve()
    carved = list(readable([hidden, tmp_path]))
    assert not any(path == hidden or path in hidden.parents or hidden in path.parents for path in carved)
