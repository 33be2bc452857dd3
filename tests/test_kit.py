"""What a cases.py may import is the kit, and torch: nothing else of the grader."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

from grader import catalog
from grader.dev import rehearsal
from grader.judge.cases.collect import files_in, importing_each_other

ROOT = Path(__file__).resolve().parent.parent
CASES = sorted((ROOT / "solutions").glob("*/cases*.py"))


@pytest.fixture(autouse=True)
def marks_of_cases(pytestconfig: pytest.Config) -> None:
    """Cases may use their marks: the project's own tests refuse unknown ones."""
    for name in (*catalog.FAMILIES, "derive", "trains", "precise", "large"):
        pytestconfig.addinivalue_line("markers", f"{name}: see docs/writing-a-kata.md")


@pytest.mark.parametrize("file", CASES, ids=[f"{file.parent.name}-{file.stem}" for file in CASES])
def test_cases_import_the_kit_alone(file: Path) -> None:
    """Authors find all that they need in one room."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert [module for module in modules if module.startswith("grader") and not module.startswith("grader.kit")] == []


@pytest.mark.parametrize("kata", catalog.katas().values(), ids=catalog.katas())
def test_every_file_of_cases_can_be_read(kata: catalog.Kata) -> None:
    """What a second file takes from the first is there, and each of them has cases."""
    files = files_in(kata.solution)
    with importing_each_other(files):
        assert [file.name for file in files if not any(map(is_case, runpy.run_path(str(file))))] == []
    assert len(list(rehearsal.cases_of(kata))) > len(files)


def is_case(name: str) -> bool:
    """Whether pytest takes what has this name for a case."""
    return name.startswith("test_")
