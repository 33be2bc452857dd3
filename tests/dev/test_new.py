"""A new kata: written, filled in, accepted, without an edit anywhere else."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.dev.files import MISTAKES_OF_CORE_KATAS
from tests.conftest import ROOT, RealTool

NEEDED = ("rms-norm", "layer-norm", "add-norm")


@pytest.fixture(scope="module")
def python_with_small_course(fresh_python: Callable[[], Path], borrow: Callable[[Path], Path]) -> Path:
    """The interpreter of an environment with three katas of the course."""
    python = fresh_python()
    package = borrow(python) / "grader"
    shutil.copytree(ROOT / "grader", package, ignore=shutil.ignore_patterns("__pycache__", "bundled"))
    for name in NEEDED:
        for kind in ("katas", "solutions"):
            shutil.copytree(ROOT / kind / name, package / "bundled" / kind / name)
    for shared in ("shared_mistakes.toml", "words.zh.toml"):
        shutil.copy(ROOT / "solutions" / shared, package / "bundled" / "solutions")
    readme = "# Course\n<!-- katas:begin -->\n<!-- katas:end -->\n"
    (package / "bundled" / "README.md").write_text(readme)
    return python


@pytest.fixture
def author(python_with_small_course: Path, tmp_path: Path) -> RealTool:
    """The tool beside that course, in an empty folder."""
    tool = RealTool(python_with_small_course, tmp_path)
    tool.scratch.mkdir()
    return tool


def place(tool: RealTool) -> Path:
    """The folder of the course."""
    (found,) = tool.python.parent.parent.glob("lib/python*/site-packages/grader/bundled")
    return found


def fill_in(course: Path) -> None:
    """Write what an author would: the texts of a kata of the same entry, under the new name."""
    for kind, where in (("katas", ROOT / "katas"), ("solutions", ROOT / "solutions")):
        shutil.copytree(where / "rms-norm", course / kind / "root-mean", dirs_exist_ok=True)
    bank = course / "solutions" / "root-mean" / "mistakes.toml"
    bank.write_text("[[mistake]]".join(bank.read_text().split("[[mistake]]")[: MISTAKES_OF_CORE_KATAS + 1]))
    answers = course / "tests" / "answers" / "root-mean"
    shutil.rmtree(answers)
    for kind in ("correct", "wrong"):
        (first, *_) = sorted((ROOT / "tests" / "answers" / "rms-norm" / kind).glob("*.py"))
        (answers / kind).mkdir(parents=True)
        shutil.copy(first, answers / kind)
    test = course / "tests" / "independent" / "test_root_mean.py"
    test.write_text(test.read_text().replace("TODO: ", ""))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["Root_Mean"], "is no kata id"),
        (["class"], "is no kata id"),
        (["rms-norm"], "is there already"),
        (["root-mean", "--title", 'a "b"'], "has a quotation mark"),
        (["root-mean", "--track", "9"], "9"),
    ],
)
def test_what_cannot_be_written_is_told(author: RealTool, arguments: list[str], says: str) -> None:
    """No file is touched, and the sentence names what is wrong."""
    before = sorted(place(author).rglob("*"))
    assert says in author("dev", "new", *arguments, code=2).stderr
    assert sorted(place(author).rglob("*")) == before


@pytest.mark.one_of_many(of=4)
@pytest.mark.timeout(300)  # grades some twenty answers
def test_a_new_kata(author: RealTool) -> None:
    """What `dev new` writes parses, is listed, and is walked through by `dev check`, which accepts it filled in."""
    told = author("dev", "new", "root-mean", "--title", "RMS normalisation", "--track", "4").stdout
    course = place(author)
    *written, readme, _next = told.splitlines()
    assert (len(written), readme) == (15, "README.md")
    assert all((course / path).is_file() for path in written)
    assert "`root-mean`" in (course / "README.md").read_text()
    for path in course.rglob("*root*/**/*.py"):
        compile(path.read_text(), str(path), "exec")
    left = author("dev", "check", "root-mean", code=1).stdout
    for path in written:
        assert f"root-mean: {path}:" in left, path
    assert "root-mean: katas/root-mean/kata.toml:1: left to do: the title in Chinese" in left
    files = [line.split(":")[1].strip() for line in left.splitlines()]
    assert list(dict.fromkeys(files)) == written  # the next step first, and no score behind the last
    fill_in(course)
    accepted = author("dev", "check", "root-mean", "--seeds", "1").stdout
    assert "left to do" not in accepted
    assert "| `root-mean` | " in accepted
