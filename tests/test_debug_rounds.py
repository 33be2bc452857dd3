"""Debug rounds of every kata: what is planted fails, the sound file passes, and undoing the plants leaves that.

A grading costs about a second, so each kata has one seed; `pytest tests/test_debug_rounds.py --seeds 200` grades 200
over all katas. What costs no grading is done for many seeds in any case.
"""

import ast
import subprocess
import sys
from functools import cache

import pytest

from grader import catalog
from grader.catalog import Kata
from grader.client.session import Request, Session
from grader.debug.plant import Bank, Planted, plant, sound_text
from grader.errors import TooFewMistakes
from grader.judge.explain.mistakes import load
from tests.gradings import SEED, of_kata

KATAS = list(catalog.katas().values())
UNGRADED = 15
MOST = 4


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Deal the seeds out over the katas."""
    if "seed" in metafunc.fixturenames:
        seeds = range(metafunc.config.getoption("seeds") or len(KATAS))
        rounds = [(KATAS[seed % len(KATAS)], seed) for seed in seeds]
        named = [of_kata(kata.id, kata, seed, name=f"{kata.id}-{seed}") for kata, seed in rounds]
        metafunc.parametrize(("kata", "seed"), named)
    elif "kata" in metafunc.fixturenames:
        metafunc.parametrize("kata", KATAS, ids=[kata.id for kata in KATAS])


@cache
def bank(kata_id: str) -> Bank:
    """Return what can be planted in a kata."""
    return Bank(catalog.find(kata_id))


def drawn(kata: Kata, seed: int) -> Planted:
    """Return a round: as many mistakes as the kata says, later one to four of them, as far as so many fit."""
    bugs = kata.bugs if seed < len(KATAS) else 1 + seed // len(KATAS) % MOST
    try:
        return bank(kata.id).plant(bugs, seed)
    except TooFewMistakes as error:
        return bank(kata.id).plant(error.together, seed)


def undone(planted: Planted) -> str:
    """Take the plants out by hand: each change back, from the bottom up."""
    lines = planted.source.splitlines()
    changes = [change for one in planted.plants for change in one.changes]
    for change in sorted(changes, key=lambda change: change.line, reverse=True):
        start = change.line - 1
        assert lines[start : start + len(change.planted)] == list(change.planted)
        lines[start : start + len(change.planted)] = change.sound
    return "\n".join(lines) + "\n"


def without_imports(source: str) -> list[str]:
    """Leave out what a planted file may lack, where only sound lines need it, and the empty lines beside it."""
    return [line for line in source.splitlines() if line and not line.startswith(("import ", "from "))]


def test_the_sound_file_is_the_model_answer(kata: Kata) -> None:
    """The same code, without comments and docstrings; that it passes is for the tests of the katas."""
    assert code_of(sound_text(kata)) == code_of(kata.reference())


def code_of(text: str) -> str:
    """Return what a file does, without what it says."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            del node.body[0]
    return ast.dump(tree)


@pytest.mark.one_of_many
def test_a_planted_file_fails(kata: Kata, seed: int, session: Session) -> None:
    """A family that must reject one of the planted mistakes rejects the file; undoing them leaves the sound file."""
    planted = drawn(kata, seed)
    families = {mistake.id: mistake.family for mistake in load(kata)}
    asked = sorted({families[one.id] for one in planted.plants}, key=catalog.FAMILIES.index)
    requests = (Request(kata.id, planted.source, kata.filename, case=f"{family}/", seed=SEED) for family in asked)
    verdicts = (session.grade(request, many=True)["verdict"] for request in requests)
    assert "failed" in verdicts, [one.id for one in planted.plants]
    assert without_imports(undone(planted)) == without_imports(planted.sound)


@pytest.mark.one_of_many
def test_planted_files_are_ordinary_code(kata: Kata, tmp_path) -> None:
    """Formatted as the references are, without comments, unused imports or unused names; each seed gives one file."""
    for seed in range(UNGRADED):
        planted = drawn(kata, seed)
        (tmp_path / f"seed_{seed}.py").write_text(planted.source, encoding="utf-8")
        assert "#" not in planted.source
        assert planted.sound == sound_text(kata)
        assert planted.left_in(planted.source) == list(planted.plants)
        assert planted.left_in(planted.sound) == []
        assert without_imports(undone(planted)) == without_imports(planted.sound)
    assert len({(tmp_path / f"seed_{seed}.py").read_bytes() for seed in range(UNGRADED)}) > UNGRADED // 5
    assert plant(kata, kata.bugs, 3) == bank(kata.id).plant(kata.bugs, 3)
    for arguments in (("format", "--diff"), ("check", "--select", "F401,F841,E9,W", "--output-format", "concise")):
        command = [
            sys.executable,
            "-m",
            "ruff",
            *arguments,
            "--no-cache",
            "--isolated",
            "--line-length",
            "120",
            tmp_path,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
