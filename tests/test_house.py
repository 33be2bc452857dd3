"""The house in numbers: what must stay at nought, and that the numbers count what they say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.cli import main
from grader.dev import house, road
from grader.errors import UsageError

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.xdist_group("house")


@pytest.fixture(scope="module")
def rows() -> dict[str, house.Row]:
    """Everything, measured once."""
    return {row.id: row for row in house.measured(ROOT)}


@pytest.mark.parametrize("row", ["circles", "upward", "long"])
def test_it_stays_at_nought(rows: dict[str, house.Row], row: str) -> None:
    """There is no circle of imports, no arrow that runs back up and no long file."""
    assert rows[row].found == ()


def test_the_document_has_every_row(rows: dict[str, house.Row], monkeypatch: pytest.MonkeyPatch) -> None:
    """`kata dev house --json` prints one document with what was counted."""
    monkeypatch.setattr(house, "measured", lambda: list(rows.values()))
    result = CliRunner().invoke(main, ["dev", "house", "--json"])
    assert result.exit_code == 0
    found = {row["id"]: row for row in json.loads(result.output)["rows"]}
    assert list(found) == list(rows)
    assert len(found["classes"]["found"]) == found["classes"]["now"] > 10


def test_an_installed_copy_is_refused(tmp_path: Path) -> None:
    """Where there are neither tests nor rooms it says that a clone is needed."""
    with pytest.raises(UsageError, match="clone"):
        house.measured(tmp_path)


def test_an_arrow_up_and_a_circle_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import from a room above, which closes a circle, counts as both."""
    made_up = tmp_path / "rooms_of_a_test"
    for name, text in {"up": "from rooms_of_a_test import down\n", "down": "import rooms_of_a_test.up\n"}.items():
        (made_up / name).mkdir(parents=True)
        (made_up / name / "__init__.py").write_text(text, encoding="utf-8")
    (made_up / "__init__.py").touch()
    (tmp_path / "pyproject.toml").write_text(
        '[[tool.importlinter.contracts]]\ntype = "layers"\nlayers = ["rooms_of_a_test.up", "rooms_of_a_test.down"]\n',
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(house, "PACKAGE", made_up.name)
    circles, upward = house.arrows(tmp_path)
    assert len(circles) == 1
    assert upward == ["rooms_of_a_test.down -> rooms_of_a_test.up"]


def test_long_files_and_checks_are_counted(tmp_path: Path) -> None:
    """Lines are counted file by file; a function that makes a check or fills one in is a way in which it lives."""
    judge = tmp_path / "judge"
    judge.mkdir()
    (judge / "one.py").write_text(
        "def a():\n    return Check()\n\n\ndef b(check):\n    check.x = 1\n", encoding="utf-8"
    )
    (judge / "two.py").write_text("def c(check):\n    return check.x\n", encoding="utf-8")
    assert [count for _path, count in house.lengths(tmp_path)] == [6, 2]
    assert house.told(house.rooms_of(tmp_path)) == ("judge: 8",)
    assert list(house.lives_of_check(tmp_path)) == ["judge/one.py: a", "judge/one.py: b"]


def test_repeated_texts_are_found(tmp_path: Path) -> None:
    """A mistake whose three texts stand with an earlier one is named beside it; other texts are its own."""
    (tmp_path / "k").mkdir()
    mistake = '[[mistake]]\nid = "{}"\ntitle.en = "t"\nexplain.en = "e"\nnudge.en = "{}"\n'
    texts = "".join(mistake.format(*pair) for pair in (("one", "n"), ("two", "n"), ("three", "other")))
    (tmp_path / "k" / "mistakes.toml").write_text(texts, encoding="utf-8")
    assert list(house.repeated_texts(tmp_path)) == ["k/two: k/one"]


def test_the_road_follows_calls_and_no_further(tmp_path: Path) -> None:
    """A class that is called on the road is on it; one in an annotation, in `except` or off the road is not.

    What is private to a file is none to know, and what explains a failure is told apart.
    """
    for folder in road.ROOMS:
        (tmp_path / folder).mkdir()
    text = """
class Asked: ...
class Noted: ...
class Caught(Exception): ...
class Elsewhere: ...
def grade(one: Noted) -> None:
    try:
        helper()
    except Caught:
        raise
def helper():
    _Private(Caught())
    cause()
    return Asked()
class _Private: ...
def other():
    return Elsewhere()
"""
    (tmp_path / "client" / "session.py").write_text(text, encoding="utf-8")
    (tmp_path / "judge" / "explain").mkdir()
    explaining = "class Cause: ...\ndef cause():\n    return Cause()\n"
    (tmp_path / "judge" / "explain" / "causes.py").write_text(explaining, encoding="utf-8")
    assert road.classes_on_the_road(tmp_path) == (["client/session.py: Asked"], ["judge/explain/causes.py: Cause"])
