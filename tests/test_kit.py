"""What a cases.py may import is the kit, and torch: nothing else of the grader."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CASES = sorted((ROOT / "solutions").glob("*/cases*.py"))


@pytest.mark.parametrize("file", CASES, ids=[f"{file.parent.name}-{file.stem}" for file in CASES])
def test_cases_import_the_kit_alone(file: Path) -> None:
    """Authors find all that they need in one room."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert [module for module in modules if module.startswith("grader") and not module.startswith("grader.kit")] == []
