"""The history: shared, migrated, and never lost in silence."""

import multiprocessing
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from grader import catalog, database
from grader.errors import NewerState, StateError
from grader.history import History, data_folder
from grader.schema import MIGRATIONS
from grader.versions import beginning


@pytest.fixture
def warnings():
    """Return the list into which the history warns."""
    return []


@pytest.fixture
def history(tmp_path, warnings):
    """Return a new history."""
    made = History(tmp_path, warnings.append)
    yield made
    made.close()
    assert [warning for warning in warnings if "damaged" not in warning] == []


def report(verdict: str = "failed", passed: int = 1, total: int = 3) -> dict:
    """Return as much of a report as the history looks at."""
    cases = [{"outcome": "passed"}] * passed + [{"outcome": "failed"}] * (total - passed)
    return {"verdict": verdict, "cases": cases, "seconds": 0.5, "extra": "\ud800 中"}


def test_an_attempt_is_stored_whole(history):
    """Report and source come back as they went in, odd characters included."""
    number = history.record("mha", "x = '中'\r\n", report(), whole=True)
    (attempt,) = history.attempts("mha")
    assert (attempt.id, attempt.verdict, attempt.passed, attempt.total, attempt.whole) == (number, "failed", 1, 3, True)
    assert history.report(number) == report()
    assert history.source(attempt.digest) == "x = '中'\r\n"
    assert history.attempts("sdpa") == []


def test_what_a_summary_counts(history):
    """The best whole grading; passes of chosen cases and gradings that the grader broke do not count."""
    history.record("mha", "a", report(passed=1), whole=True)
    history.record("mha", "b", report(passed=2), whole=True)
    history.record("mha", "c", report("passed", 1, 1), whole=False)
    history.record("mha", "d", report("error", 0, 0), whole=True)
    history.begin("mha", anew=True)
    history.take_hint("mha", [1, 2, 3])
    summary = history.summary("mha")
    assert (summary.attempts, summary.passed, summary.best, summary.hints) == (3, False, (2, 3), 1)
    history.record("mha", "e", report("passed", 3, 3), whole=True)
    assert history.summary("mha").passed
    assert history.summary("mha").best == (3, 3)
    assert not history.summary("mha").gave_up
    history.reveal("mha", gave_up=False)
    assert not history.summary("mha").gave_up
    history.reveal("mha", gave_up=True)
    assert history.summary("mha").gave_up


def test_the_clock_starts_once_and_anew_on_request(history):
    """Starting a kata again goes on with the round; a fresh start begins another."""
    assert history.current() is None
    assert history.started("mha") is None
    history.begin("mha", anew=False)
    first = history.started("mha")
    history.begin("sdpa", anew=True)
    history.begin("mha", anew=False)
    assert history.started("mha") == first
    assert history.current() == "mha"
    history.begin("mha", anew=True)
    assert history.started("mha") > first


def test_the_ladder_of_hints(history):
    """One rung at a time, each once, to the end, and from the start in a new round."""
    assert [history.take_hint("mha", [2, 1, 2, 3]) for _ in range(3)] == [2, 1, 3]
    assert history.take_hint("mha", [1, 2, 3]) is None
    assert history.hints_taken("mha") == {1, 2, 3}
    history.begin("mha", anew=True)
    assert history.hints_taken("mha") == set()
    assert history.take_hint("mha", [1, 2]) == 1


def test_a_debug_round_is_remembered(history):
    """What was planted comes back as it went in; a whole pass is the repair, one of chosen cases is not."""
    assert history.debug_round("mha.debug") is None
    history.plant("mha.debug", seed=2**63 - 1, bugs=2, planted={"source": "中"})
    known = history.debug_round("mha.debug")
    assert (known.seed, known.bugs, known.planted) == (2**63 - 1, 2, {"source": "中"})
    assert (known.state, known.over) == ("open", False)
    history.record("mha.debug", "x", report(), whole=True)
    history.record("mha.debug", "x", report("passed", 1, 1), whole=False)
    history.record("mha", "x", report("passed", 3, 3), whole=True)
    assert history.debug_states() == {"mha.debug": "open"}
    history.record("mha.debug", "x", report("passed", 3, 3), whole=True)
    assert history.debug_round("mha.debug").over
    assert history.debug_states() == {"mha.debug": "repaired"}


def test_giving_up_a_debug_round(history):
    """It is recorded before the repair only, and the next round begins without it."""
    history.plant("mha.debug", seed=1, bugs=1, planted={})
    history.reveal("mha.debug", gave_up=True)
    history.record("mha.debug", "x", report("passed", 3, 3), whole=True)
    assert history.debug_round("mha.debug").state == "given up"
    history.take_hint("mha.debug", [1])
    history.plant("mha.debug", seed=2, bugs=1, planted={})
    assert (history.debug_round("mha.debug").seed, history.debug_round("mha.debug").state) == (2, "open")
    assert history.hints_taken("mha.debug") == set()
    history.record("mha.debug", "x", report("passed", 3, 3), whole=True)
    history.reveal("mha.debug", gave_up=True)
    assert history.debug_states() == {"mha.debug": "repaired"}


def test_what_was_started_last(history):
    """A debug round is current as a kata is, with the moment at which it became so."""
    assert history.current_since() is None
    history.begin("mha", anew=True)
    first = history.current_since()
    history.plant("mha.debug", seed=1, bugs=1, planted={})
    assert history.current() == "mha.debug"
    assert history.current_since() > first
    assert history.started("mha") == first


def test_a_planted_document_that_cannot_be_read(history):
    """A sentence names the kata."""
    history.plant("mha.debug", seed=1, bugs=1, planted={})
    history.db.execute("UPDATE debug_rounds SET planted = 'x'")
    with pytest.raises(StateError, match="What was planted in mha cannot be read"):
        history.debug_round("mha.debug")


def test_a_history_from_before_debug_rounds(tmp_path, warnings, monkeypatch):
    """The first schema gets the tables of debug rounds, and what it holds stays."""
    monkeypatch.setattr(database, "MIGRATIONS", MIGRATIONS[:1])
    monkeypatch.setattr(database, "SCHEMA", 1)
    old = History(tmp_path, warnings.append)
    old.db.execute("INSERT INTO settings (name, value) VALUES ('current', 'mha')")
    old.db.execute("INSERT INTO hints (kata, start, rung, at) VALUES ('mha', 0, 1, '2026-01-01T00:00:00+00:00')")
    old.close()
    monkeypatch.undo()
    new = History(tmp_path, warnings.append)
    assert (new.current(), new.current_since(), new.hints_taken("mha")) == ("mha", None, {1})
    new.plant("mha.debug", seed=1, bugs=1, planted={})
    assert new.debug_states() == {"mha.debug": "open"}
    new.close()


def test_the_history_is_kept_private(tmp_path, warnings):
    """The folder is made for its user alone."""
    History(tmp_path / "deep" / "home", warnings.append).close()
    assert (tmp_path / "deep" / "home").stat().st_mode & 0o777 == 0o700


def test_where_the_history_lies(monkeypatch, tmp_path):
    """KATA_HOME, else the user's data folder on this system."""
    monkeypatch.setenv("KATA_HOME", "~/katas")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder() == tmp_path / "katas"
    monkeypatch.delenv("KATA_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert data_folder().name == "kata"


@pytest.mark.parametrize("data", [b"x" * 5000, b"SQLite format 3\0" + b"\xff" * 5000, b"short"])
def test_a_damaged_file_is_set_aside(tmp_path, warnings, data):
    """The damaged file stays under another name, with a warning that says which; a new history begins."""
    path = tmp_path / "history.db"
    path.write_bytes(data)
    if data.startswith(b"SQLite"):
        path.write_bytes(data[:60] + bytes(4) + data[64:])
    before = path.read_bytes()
    history = History(tmp_path, warnings.append)
    history.record("mha", "x", report(), whole=True)
    history.close()
    (aside,) = tmp_path.glob("history-damaged-*.db")
    assert aside.read_bytes() == before
    assert str(aside) in warnings[0]


def test_damage_that_shows_later(tmp_path, history, warnings):
    """A file whose pages were overwritten is found out when they are read, set aside, and the work is done."""
    for number in range(50):
        history.record("mha", f"x = {number}\n" * 200, report(), whole=True)
    history.close()
    path = tmp_path / "history.db"
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xaa" * (len(data) - 4096)
    path.write_bytes(data)
    again = History(tmp_path, warnings.append)
    assert again.record("mha", "new", report(), whole=True) == 1
    again.close()
    assert len(list(tmp_path.glob("history-damaged-*.db"))) == 1
    assert len(warnings) == 1


def test_a_missing_table_is_damage(tmp_path, warnings):
    """A file that claims our schema and does not have it is set aside."""
    db = sqlite3.connect(tmp_path / "history.db")
    db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    db.close()
    history = History(tmp_path, warnings.append)
    assert history.current() is None
    history.close()
    assert len(warnings) == 1


def test_what_another_process_has_repaired_stays(tmp_path, warnings):
    """A process that finds the damage second does not set aside the new file of the first."""
    (tmp_path / "history.db").write_bytes(b"x" * 5000)
    slow = History.__new__(History)
    slow.path, slow.read_only, slow._warn = tmp_path / "history.db", False, warnings.append
    slow._inode = slow.path.stat().st_ino
    quick = History(tmp_path, warnings.append)
    quick.record("mha", "x", report(), whole=True)
    slow.set_aside(sqlite3.DatabaseError("file is not a database"))
    assert len(slow.attempts("mha")) == 1
    assert len(warnings) == 1
    quick.close()
    slow.close()


def test_damage_that_cannot_be_set_aside(tmp_path, warnings, monkeypatch):
    """Where even renaming fails, the sentence names the file and the reason."""
    (tmp_path / "history.db").write_bytes(b"x" * 5000)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(StateError, match=r"is damaged .* and cannot be set aside: you have no permission"):
        History(tmp_path, warnings.append)


def test_a_newer_schema_is_not_touched(tmp_path, warnings):
    """A file of a newer kata is refused, byte for byte as it was, even while its version is still in the journal."""
    path = tmp_path / "history.db"
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA user_version = 7")
    with pytest.raises(NewerState, match=f"schema 7, this one knows {len(MIGRATIONS)}"):
        History(tmp_path, warnings.append)
    db.close()
    before = path.read_bytes()
    with pytest.raises(NewerState):
        History(tmp_path, warnings.append)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["history.db"]


def test_a_migration_takes_what_is_there_along(tmp_path, warnings, monkeypatch):
    """A history of an older schema gets the missing steps and keeps its rows."""
    old = History(tmp_path, warnings.append)
    old.record("mha", "x", report(), whole=True)
    old.close()
    step = ("ALTER TABLE attempts ADD COLUMN note TEXT NOT NULL DEFAULT 'none'",)
    monkeypatch.setattr(database, "MIGRATIONS", (*MIGRATIONS, step))
    monkeypatch.setattr(database, "SCHEMA", len(MIGRATIONS) + 1)
    new = History(tmp_path, warnings.append)
    assert new.db.execute("SELECT note FROM attempts").fetchall() == [("none",)]
    assert new.db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS) + 1,)
    new.close()


def test_a_migration_that_fails_changes_nothing(tmp_path, warnings, monkeypatch):
    """Half a migration is none."""
    History(tmp_path, warnings.append).close()
    step = ("CREATE TABLE notes (x)", "INSERT INTO notes (x) SELECT zeroblob(100000000)")
    monkeypatch.setattr(database, "MIGRATIONS", (*MIGRATIONS, step))
    monkeypatch.setattr(database, "SCHEMA", len(MIGRATIONS) + 1)
    connect = sqlite3.connect

    def small(*args, **kwargs):
        db = connect(*args, **kwargs)
        db.execute("PRAGMA max_page_count = 100")
        return db

    monkeypatch.setattr(sqlite3, "connect", small)
    with pytest.raises(StateError, match="the disk is full"):
        History(tmp_path, warnings.append)
    monkeypatch.undo()
    history = History(tmp_path, warnings.append)
    assert history.db.execute("SELECT name FROM sqlite_master WHERE name = 'notes'").fetchall() == []
    history.close()


def test_two_at_once_in_a_process_keep_their_journal(history, tmp_path, warnings):
    """A second one that is opened or closed leaves the first its locks: another process does not take the journal."""
    history.begin("mha", anew=True)
    second = History(tmp_path, warnings.append)
    program = (
        "import sys, pathlib, grader.history; "
        "history = grader.history.History(pathlib.Path(sys.argv[1]), print); "
        "print(len(history.hints_taken('mha'))); history.close()"
    )
    for number in (1, 2, 3):
        assert history.take_hint("mha", [1, 2, 3]) == number
        seen = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)
        assert seen.stdout == f"{number}\n"
        assert (tmp_path / "history.db-wal").exists()
        second.close()
    assert history.problems() == []


def test_a_locked_history_says_so(history, tmp_path, warnings, monkeypatch):
    """When another program holds the file for too long, the sentence says that."""
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.1)
    other = History(tmp_path, warnings.append)
    with history.transaction(), pytest.raises(StateError, match="another program has locked it"):
        other.record("mha", "x", report(), whole=True)
    other.close()


def test_a_folder_that_cannot_be_written_can_be_read(tmp_path, warnings, monkeypatch):
    """Where the folder refuses every new file, what is recorded is still shown, and writing says why not."""
    first = History(tmp_path, warnings.append)
    first.record("mha", "x", report(), whole=True)
    first.close()
    real = database._opened

    def opened(path, query=""):
        if not query:
            raise_error = sqlite3.OperationalError("unable to open database file")
            raise_error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
            raise raise_error
        return real(path, query)

    monkeypatch.setattr(database, "_opened", opened)
    history = History(tmp_path, warnings.append)
    assert history.read_only
    assert history.summary("mha").attempts == 1
    with pytest.raises(StateError, match="it is read-only"):
        history.begin("mha", anew=True)
    history.close()


def test_the_check_of_the_whole_file(history, tmp_path):
    """A sound file has no problems, a damaged one names them."""
    assert history.problems() == []
    for number in range(50):
        history.record("mha", f"{number}" * 2000, report(), whole=True)
    history.close()
    path = tmp_path / "history.db"
    data = bytearray(path.read_bytes())
    data[-8192:] = b"\xaa" * 8192
    path.write_bytes(data)
    history.db = sqlite3.connect(path)
    assert history.problems()


def _record_many(folder: Path, start: "multiprocessing.synchronize.Barrier", name: str) -> None:
    start.wait()
    history = History(folder, print)
    for number in range(25):
        history.record("mha", f"{name} {number}", report(), whole=True)
        history.take_hint("mha", range(1, 1001))
    history.close()


def test_two_processes_write_at_once(tmp_path, warnings):
    """Two graders that begin on no file at the same moment lose nothing and give no hint twice."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    processes = [context.Process(target=_record_many, args=(tmp_path, barrier, name)) for name in "ab"]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    history = History(tmp_path, warnings.append)
    assert history.summary("mha").attempts == 50
    assert history.hints_taken("mha") == set(range(1, 51))
    assert history.problems() == []
    history.close()


def test_an_answer_begins_with_the_one_it_continues(history, tmp_path):
    """The newest version that passed as a whole stands in front of the stub; without one the stub stands alone."""
    (tmp_path / "katas").mkdir()
    (tmp_path / "katas" / "stub.py").write_text("STUB\n")
    kata = replace(catalog.find("mha"), continues="split-heads", folder=tmp_path / "katas")
    history.record("split-heads", "failed", report(), whole=True)
    history.record("split-heads", "one case", report("passed", 1, 1), whole=False)
    assert beginning(kata, history) == "STUB\n"
    history.record("split-heads", "older", report("passed", 3, 3), whole=True)
    history.record("split-heads", "newer\n\n\n", report("passed", 3, 3), whole=True)
    history.record("split-heads", "failed", report(), whole=True)
    assert beginning(kata, history) == "newer\n\n\nSTUB\n"
    assert beginning(replace(kata, continues=""), history) == "STUB\n"
