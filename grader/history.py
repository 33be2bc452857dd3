"""What has happened: attempts, hints, solutions shown, mistakes planted. One SQLite file for all graders of a user.

The debug rounds of a kata stand beside its own rounds, under a name of theirs (`catalog.debug_round`).
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.catalog import kata_of
from grader.database import survives_damage
from grader.errors import StateError
from grader.language import _
from grader.records import Records, now_text
from grader.workspace import digest, encoded


@dataclass(frozen=True, slots=True)
class Attempt:
    """One grading, without its report."""

    id: int
    kata: str
    at: datetime
    verdict: str
    passed: int
    total: int
    seconds: float
    whole: bool
    digest: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What a learner has done with one kata; `passed` counts whole gradings only."""

    attempts: int = 0
    passes: int = 0
    best: tuple[int, int] = (0, 0)
    last: datetime | None = None
    hints: int = 0
    gave_up: bool = False

    @property
    def passed(self) -> bool:
        """Whether the kata was passed at least once."""
        return self.passes > 0


@dataclass(frozen=True, slots=True)
class DebugRound:
    """One debug round; what was planted is a document that `grader.debug.plant` reads."""

    at: datetime
    seed: int
    bugs: int
    repaired: bool
    gave_up: bool
    planted: dict[str, Any]

    @property
    def state(self) -> str:
        """How far it is: `open`, `repaired` or `given up`."""
        return state(self.repaired, self.gave_up)

    @property
    def over(self) -> bool:
        """Whether what was planted may be shown."""
        return self.repaired or self.gave_up


def state(repaired: bool, gave_up: bool) -> str:
    """Return the word for how far a debug round is."""
    if gave_up:
        return "given up"
    return "repaired" if repaired else "open"


def data_folder() -> Path:
    """Return the folder of the history: KATA_HOME, or the user's data folder on this system. Raises StateError."""
    if home := os.environ.get("KATA_HOME"):
        try:
            return Path(home).expanduser()
        except RuntimeError:
            sentence = _("The history cannot be kept in {folder}: there is no such user.")
            raise StateError(sentence.format(folder=home)) from None
    from platformdirs import user_data_dir  # noqa: PLC0415 - KATA_HOME saves its import

    return Path(user_data_dir("kata", appauthor=False))


class History(Records):
    """The history of one user. Methods raise StateError, in words, for whatever SQLite or the disk refuses."""

    @survives_damage
    def record(self, kata: str, source: str | bytes, report: dict[str, Any], *, whole: bool) -> int:
        """Store one grading and return its number; `whole` is false where only some cases were chosen.

        The source is bytes where it is no text.
        """
        cases = report["cases"]
        import json  # noqa: PLC0415 - only attempts have reports

        text = digest(encoded(source))
        passed = sum(case["outcome"] == "passed" for case in cases)
        with self.transaction() as db:
            db.execute("INSERT OR IGNORE INTO sources (digest, text) VALUES (?, ?)", (text, source))
            cursor = db.execute(
                "INSERT INTO attempts (kata, at, verdict, passed, total, seconds, whole, digest, report) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(kata, now_text(), report["verdict"], passed, len(cases)),
                    *(float(report["seconds"]), whole, text, json.dumps(report)),
                ),
            )
            if whole and report["verdict"] == "passed":
                self._end_debug_round(kata, "repaired")
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    @survives_damage
    def begin(self, kata: str, *, anew: bool, counts: bool = False) -> None:
        """Make a kata the current one; the clock and the ladder of hints start `anew`, or for the first time.

        A debug round that goes on ``counts`` as a review from now on where the learner wants that.
        """
        with self.transaction() as db:
            self._begin(kata, anew=anew or self._round(kata) == 0)
            if counts:
                db.execute("UPDATE starts SET counts = 1 WHERE id = ?", (self._round(kata),))

    @survives_damage
    def current(self) -> str | None:
        """Return the name of what was started last: a kata, or the debug rounds of one."""
        return self._setting("current")

    @survives_damage
    def current_since(self) -> datetime | None:
        """Return when that was."""
        at = self._setting("current_since")
        return datetime.fromisoformat(at) if at else None

    @survives_damage
    def make_current(self, name: str) -> None:
        """Make this what commands without a name are about; its clock is not started."""
        with self.transaction():
            self._set(current=name, current_since=now_text())

    @survives_damage
    def last_workspace(self) -> str | None:
        """Return the folder of the workspace used last."""
        return self._setting("workspace")

    @survives_damage
    def use_workspace(self, folder: str) -> None:
        """Remember the folder of the workspace used last."""
        if self._setting("workspace") != folder:
            with self.transaction():
                self._set(workspace=folder)

    @survives_damage
    def plant(self, name: str, *, seed: int, bugs: int, planted: dict[str, Any], counts: bool = False) -> None:
        """Begin a debug round: store what was planted, make it the current one, start its clock and its hints.

        It ``counts`` as a review of its kata where the learner wants that.
        """
        import json  # noqa: PLC0415 - only debug rounds have something planted

        with self.transaction() as db:
            db.execute(
                "INSERT INTO debug_rounds (name, at, seed, bugs, planted) VALUES (?, ?, ?, ?, ?)",
                (name, now_text(), seed, bugs, json.dumps(planted)),
            )
            self._begin(name, anew=True, counts=counts)

    @survives_damage
    def debug_round(self, name: str) -> DebugRound | None:
        """Return the newest debug round, None where there was none."""
        import json  # noqa: PLC0415 - as above

        row = self.db.execute(
            "SELECT at, seed, bugs, repaired, gave_up, planted FROM debug_rounds WHERE name = ? ORDER BY id DESC",
            (name,),
        ).fetchone()
        if row is None:
            return None
        at, seed, bugs, repaired, gave_up, planted = row
        try:
            document: dict[str, Any] = json.loads(planted)
        except ValueError as error:
            raise StateError(_("What was planted in {name} cannot be read.").format(name=kata_of(name))) from error
        return DebugRound(datetime.fromisoformat(at), seed, bugs, repaired is not None, gave_up is not None, document)

    @survives_damage
    def debug_states(self) -> dict[str, str]:
        """Return how far the newest debug round of each name is."""
        # SQLite takes the other columns of a row with MAX() from the row that has the maximum.
        rows = self.db.execute("SELECT name, repaired, gave_up, MAX(id) FROM debug_rounds GROUP BY name")
        return {name: state(repaired is not None, gave_up is not None) for name, repaired, gave_up, _number in rows}

    @survives_damage
    def started(self, kata: str) -> datetime | None:
        """Return when the present round of a kata began."""
        row = self.db.execute("SELECT at FROM starts WHERE id = ?", (self._round(kata),)).fetchone()
        return datetime.fromisoformat(row[0]) if row else None

    @survives_damage
    def take_hint(self, kata: str, rungs: Sequence[int]) -> int | None:
        """Record the first of these rungs that was not taken in this round and return it; None when all have been."""
        with self.transaction() as db:
            taken = self._taken(kata)
            rung = next((number for number in rungs if number not in taken), None)
            if rung is not None:
                db.execute(
                    "INSERT INTO hints (kata, start, rung, at) VALUES (?, ?, ?, ?)",
                    (kata, self._round(kata), rung, now_text()),
                )
        return rung

    @survives_damage
    def hints_taken(self, kata: str) -> set[int]:
        """Return the rungs that were taken in the present round."""
        return self._taken(kata)

    @survives_damage
    def reveal(self, kata: str, *, gave_up: bool) -> None:
        """Record that the solution was shown, and whether before a pass."""
        with self.transaction() as db:
            db.execute("INSERT INTO reveals (kata, at, gave_up) VALUES (?, ?, ?)", (kata, now_text(), gave_up))
            if gave_up:
                self._end_debug_round(kata, "gave_up")

    @survives_damage
    def summaries(self) -> dict[str, Summary]:
        """Return what was done, by kata, for each kata of which anything is known."""
        # SQLite takes the other columns of a row with MAX() from the row that has the maximum.
        best = {
            row[0]: (row[1], row[2])
            for row in self.db.execute(
                "SELECT kata, passed, total, MAX(1.0 * passed / total) FROM attempts "
                "WHERE whole AND total GROUP BY kata"
            )
        }
        counts = {
            row[0]: row[1:]
            for row in self.db.execute(
                "SELECT kata, COUNT(*), SUM(whole AND verdict = 'passed'), MAX(at) FROM attempts "
                "WHERE verdict != 'error' GROUP BY kata"
            )
        }
        hints = dict(self.db.execute("SELECT kata, COUNT(*) FROM hints GROUP BY kata").fetchall())
        gave_up = dict(self.db.execute("SELECT kata, MAX(gave_up) FROM reveals GROUP BY kata").fetchall())
        started = dict(self.db.execute("SELECT kata, MAX(at) FROM starts GROUP BY kata").fetchall())
        summaries = {}
        for kata in {*counts, *hints, *gave_up, *started}:
            attempts, passes, last = counts.get(kata, (0, 0, started.get(kata)))
            summaries[kata] = Summary(
                attempts=attempts,
                passes=passes,
                best=best.get(kata, (0, 0)),
                last=datetime.fromisoformat(last) if last else None,
                hints=hints.get(kata, 0),
                gave_up=bool(gave_up.get(kata, 0)),
            )
        return summaries

    def summary(self, kata: str) -> Summary:
        """Return what was done with one kata."""
        return self.summaries().get(kata, Summary())

    @survives_damage
    def attempts(self, kata: str) -> list[Attempt]:
        """Return the gradings of a kata, oldest first."""
        rows = self.db.execute(
            "SELECT id, kata, at, verdict, passed, total, seconds, whole, digest FROM attempts "
            "WHERE kata = ? ORDER BY id",
            (kata,),
        )
        return [
            Attempt(number, name, datetime.fromisoformat(at), verdict, passed, total, seconds, bool(whole), digest)
            for number, name, at, verdict, passed, total, seconds, whole, digest in rows
        ]

    @survives_damage
    def report(self, attempt: int) -> dict[str, Any]:
        """Return the report of one grading."""
        import json  # noqa: PLC0415 - as above

        row = self.db.execute("SELECT report FROM attempts WHERE id = ?", (attempt,)).fetchone()
        try:
            report: dict[str, Any] = json.loads(row[0])
        except (TypeError, ValueError) as error:
            raise StateError(_("The report of attempt {number} cannot be read.").format(number=attempt)) from error
        return report

    @survives_damage
    def source(self, digest: str) -> str | bytes:
        """Return the text of a graded version, or the bytes of what was none."""
        row = self.db.execute("SELECT text FROM sources WHERE digest = ?", (digest,)).fetchone()
        if row is None:
            raise StateError(_("The history does not hold version {digest}.").format(digest=digest[:10]))
        source: str | bytes = row[0]
        return source

    def _round(self, kata: str) -> int:
        row = self.db.execute("SELECT MAX(id) FROM starts WHERE kata = ?", (kata,)).fetchone()
        return row[0] or 0

    def _taken(self, kata: str) -> set[int]:
        rows = self.db.execute("SELECT rung FROM hints WHERE kata = ? AND start = ?", (kata, self._round(kata)))
        return {rung for (rung,) in rows}

    def _begin(self, kata: str, *, anew: bool, counts: bool = False) -> None:
        now = now_text()
        self._set(current=kata, current_since=now)
        if anew:
            self.db.execute(
                "INSERT INTO starts (kata, at, counts, after_attempt, after_reveal) SELECT ?, ?, ?, "
                "(SELECT COALESCE(MAX(id), 0) FROM attempts), (SELECT COALESCE(MAX(id), 0) FROM reveals)",
                (kata, now, counts),
            )

    def _end_debug_round(self, name: str, how: str) -> None:
        self.db.execute(
            f"UPDATE debug_rounds SET {how} = ? WHERE id = (SELECT MAX(id) FROM debug_rounds WHERE name = ?) "  # noqa: S608 - one of two columns
            "AND repaired IS NULL",
            (now_text(), name),
        )
