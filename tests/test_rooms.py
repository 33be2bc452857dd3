"""The table of rooms in docs/architecture.md is the contract that import-linter holds the code to."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRACTS = {
    contract["id"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
}
WALK = ARCHITECTURE.partition("## The walk of the learner's source")[2].partition("\n## ")[0]
HOPS = re.findall(r"^(\d+)\. `([\w/]+\.py)`: `([\w.]+)` -> ", WALK, re.MULTILINE)
WHERE = ARCHITECTURE.partition("## Where to look")[2]


def rooms_of(contract: str) -> list[str]:
    """Return the rooms of a contract, from the top, by their own names."""
    layers = CONTRACTS[contract]["layers"]
    return [room.strip().removeprefix("grader.") for layer in layers for room in layer.split("|")]


def table(head: str) -> list[str]:
    """Return the first column of the table after a sentence."""
    rows = ARCHITECTURE.partition(head)[2].partition("\n\n| room |")[2].partition("\n\n")[0]
    return [row.removesuffix("/").removesuffix(".py") for row in re.findall(r"^\| `([^`]+)` \|", rows, re.MULTILINE)]


@pytest.mark.parametrize(
    ("contract", "head"), [("rooms", "## Rooms"), ("judge", "The judge, from the top:")], ids=["rooms", "judge"]
)
def test_the_table_is_the_contract(contract: str, head: str) -> None:
    """The table names the rooms of the contract in its order."""
    assert table(head) == rooms_of(contract)


def test_every_room_is_named() -> None:
    """No module or folder of the grader is left out of the contract, the two that start it aside."""
    there = {
        path.stem for path in (ROOT / "grader").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert there - {"__init__", "__main__"} == set(rooms_of("rooms"))
    judge = {
        path.stem for path in (ROOT / "grader" / "judge").iterdir() if path.stem not in ("__init__", "__pycache__")
    }
    assert judge == set(rooms_of("judge"))


@pytest.mark.parametrize("place", sorted(set(re.findall(r"`([a-z_/]+(?:\.py|/))`", WHERE))))
def test_a_place_to_look_is_there(place: str) -> None:
    """Every file and folder that a question points to is there."""
    assert (ROOT / "grader" / place).exists()


@pytest.mark.parametrize(("number", "file", "function"), HOPS)
def test_a_hop_of_the_walk_is_there(number: str, file: str, function: str) -> None:
    """The file has that function, or that class has that method."""
    *owner, name = function.split(".")
    found: ast.AST = ast.parse((ROOT / "grader" / file).read_text(encoding="utf-8"))
    for one in owner:
        found = next(node for node in ast.walk(found) if isinstance(node, ast.ClassDef) and node.name == one)
    assert any(isinstance(node, ast.FunctionDef) and node.name == name for node in ast.walk(found)), number


def test_the_walk_has_no_gap() -> None:
    """Its hops are counted, from the command to the page, and each other name in it is a class of the tool."""
    assert [int(number) for number, _file, _function in HOPS] == list(range(1, len(HOPS) + 1))
    assert WALK.count(" -> ") == len(HOPS) > 15
    assert (HOPS[0][1], HOPS[-1][1]) == ("cli/grading.py", "cli/attempt.py")
    named = set(re.findall(r"`([A-Z]\w+)[`.]", WALK))
    there = {
        node.name
        for path in (ROOT / "grader").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }
    assert named <= there
