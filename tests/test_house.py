"""The house in numbers: what must stay at nought, and that the numbers count what they say."""

from __future__ import annotations

import ast
import importlib
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader import catalog
from grader.cli import main
from grader.client.session import Request, Session
from grader.dev import house, road
from grader.errors import UsageError
from grader.server import launch
from tests import tracing

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
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "pages.py").write_text("PAGES = ()\n", encoding="utf-8")
    assert list(map(house.told, house.rooms_of(tmp_path))) == [("judge: 8",), ("the page in the browser: 1",)]
    assert list(house.lives_of_check(tmp_path)) == ["judge/one.py: a", "judge/one.py: b"]


def test_what_came_with_other_things_is_there(rows: dict[str, house.Row]) -> None:
    """Each room and file that is not counted with the house exists, stands for one thing, and is counted there."""
    paths = [path for several in house.WITH_OTHER_THINGS.values() for path in several]
    assert all((ROOT / "grader" / path).exists() for path in paths)
    assert len(paths) == len(set(paths))
    assert rows["lines"].now + rows["others"].now == sum(count for _path, count in house.lengths(ROOT / "grader"))
    assert len(rows["others"].found) == len(house.WITH_OTHER_THINGS)


def test_repeated_texts_are_found(tmp_path: Path) -> None:
    """A mistake whose three texts stand with an earlier one is named beside it; other texts are its own."""
    (tmp_path / "k").mkdir()
    mistake = '[[mistake]]\nid = "{}"\ntitle.en = "t"\nexplain.en = "e"\nnudge.en = "{}"\n'
    texts = "".join(mistake.format(*pair) for pair in (("one", "n"), ("two", "n"), ("three", "other")))
    (tmp_path / "k" / "mistakes.toml").write_text(texts, encoding="utf-8")
    assert list(house.repeated_texts(tmp_path)) == ["k/two: k/one"]


ROAD = {
    "client/session.py": """
from grader_of_a_test.judge.explain.causes import cause
from grader_of_a_test.transport import wire
class Asked: ...
class Noted: ...
class Caught(Exception): ...
class Elsewhere: ...
class Session:
    def __init__(self):
        self.line = _Private(Caught())
    def grade(self, one: Noted) -> None:
        try:
            self.line.helper()
        except Caught:
            raise
        wire.Sent().go()
        TABLE["asked"]()
        cause()
class _Private:
    def helper(self):
        return self.own()
    def own(self):
        return wire.Packed
TABLE = {"asked": Asked}
def other():
    return Elsewhere()
""",
    "transport/wire.py": """
class Base: ...
class Sent(Base):
    def go(self): ...
    def never(self):
        return Unsent()
class Packed: ...
class Unsent:
    def go(self):
        return Unasked()
    def own(self):
        return Unasked()
class Unasked: ...
""",
    "judge/explain/causes.py": """
from grader_of_a_test.transport.wire import Unsent
class Cause: ...
def cause():
    return Cause(), Unsent
""",
}
"""The road goes to `Session.grade`, and to whatever that calls."""


def test_the_road_follows_calls_and_no_further(tmp_path: Path) -> None:
    """A class that is named on the road is on it; one in an annotation, in `except` or off the road is not.

    Methods are those of classes that are on it, by one name or another. What is private to a file is none to know, and
    what explains a failure is told apart.
    """
    package = tmp_path / "grader_of_a_test"
    for path, text in ROAD.items():
        (package / path).parent.mkdir(parents=True)
        (package / path).write_text(text, encoding="utf-8")
    passing, explaining = road.classes_on_the_road(package, {"client/session.py": ("Session", "grade")})
    assert passing == [
        *("client/session.py: Asked", "client/session.py: Session"),
        *("transport/wire.py: Base", "transport/wire.py: Packed", "transport/wire.py: Sent"),
    ]
    assert explaining == ["judge/explain/causes.py: Cause"]


def test_what_is_private_is_known_in_its_own_file() -> None:
    """No other file names a class that begins with an underscore, so that nothing to know is hidden behind one."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "grader").rglob("*.py")}
    private = {
        path: {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name.startswith("_")}
        for path, tree in trees.items()
    }
    everywhere = set().union(*private.values())
    assert len(everywhere) > 50
    for path, tree in trees.items():
        named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        named |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
        assert not named & (everywhere - private[path]), path


@pytest.mark.grades
@pytest.mark.one_of_many(of=4)
def test_a_grading_meets_no_class_beside_the_road(
    rows: dict[str, house.Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A passing grading, prepared for and traced in all its processes, runs code of no other class."""
    notes = tmp_path / "met.txt"
    start = launch._BOOTSTRAP.replace("from grader.server.launch import enter", tracing.START.format(file=str(notes)))
    monkeypatch.setattr(launch, "_BOOTSTRAP", start)
    kata = catalog.find("sdpa")
    request = Request(kata.id, kata.reference(), kata.filename, seed=1)
    with Session(layers=()) as session:
        tracing.begin(str(notes))
        try:
            report = session.grade(request, many=True)
        finally:
            sys.setprofile(None)
    assert report["verdict"] == "passed"
    met = set()
    for line in set(notes.read_text(encoding="utf-8").splitlines()):
        module, name = line.split()
        path = module.removeprefix("grader.").replace(".", "/") + ".py"
        kind = getattr(importlib.import_module(module), name)
        is_error = isinstance(kind, type) and issubclass(kind, BaseException)
        if path.startswith(road.ROOMS) and not (name.startswith("_") or is_error):
            met.add(f"{path}: {name}")
    met = {name for name in met if not name.startswith(road.BEHIND_A_FAILURE)}
    assert len(met) > 30
    assert met <= set(rows["classes"].found)
