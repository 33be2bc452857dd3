"""What practice rests on: rounds as they happened, what learners said of them, mock interviews.

Nothing here is computed from something else: when a review is due follows from these rows (`grader.practice`), and is
kept nowhere.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from grader.database import Database, survives_damage

AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4


@dataclass(frozen=True, slots=True)
class Start:
    """The beginning of a round; number 0, without a moment, is what was done before the first."""

    number: int
    name: str
    at: datetime | None
    after_attempt: int
    after_reveal: int
    counts: bool


class Grading(NamedTuple):
    """One grading, as far as the clock needs it."""

    number: int
    name: str
    at: datetime
    verdict: str
    whole: bool
    seconds: float


class HintTaken(NamedTuple):
    """A hint, and the round in which it was taken."""

    name: str
    start: int
    at: datetime


class Reveal(NamedTuple):
    """A model answer that was shown."""

    number: int
    name: str
    at: datetime
    gave_up: bool


class Rated(NamedTuple):
    """What a learner said of a round or of an answer to a question."""

    number: int
    card: str
    start: int
    rating: int
    at: datetime


class MockRow(NamedTuple):
    """A mock interview: what was agreed, when it ended, its score card."""

    number: int
    at: datetime
    plan: dict[str, Any]
    ended: datetime | None
    card: dict[str, Any] | None


class MockStep(NamedTuple):
    """Something that happened in a mock interview, and the text of the file where that counts."""

    kind: str
    stage: int
    at: datetime
    digest: str | None
    detail: dict[str, Any]


class Records(Database):
    """The part of a history that practice reads."""

    @survives_damage
    def starts(self) -> list[Start]:
        """Return all rounds that were begun, in order."""
        rows = self.db.execute("SELECT id, kata, at, after_attempt, after_reveal, counts FROM starts ORDER BY id")
        return [
            Start(number, name, moment(at), attempt, reveal, bool(counts))
            for number, name, at, attempt, reveal, counts in rows
        ]

    @survives_damage
    def gradings(self) -> list[Grading]:
        """Return all gradings that were no failure of the grader's, in order."""
        rows = self.db.execute(
            "SELECT id, kata, at, verdict, whole, seconds FROM attempts WHERE verdict != 'error' ORDER BY id"
        )
        return [
            Grading(number, name, moment(at), verdict, bool(whole), seconds)
            for number, name, at, verdict, whole, seconds in rows
        ]

    @survives_damage
    def all_hints(self) -> list[HintTaken]:
        """Return all hints that were taken, in order."""
        rows = self.db.execute("SELECT kata, start, at FROM hints ORDER BY id")
        return [HintTaken(name, start, moment(at)) for name, start, at in rows]

    @survives_damage
    def all_reveals(self) -> list[Reveal]:
        """Return all model answers that were shown, in order."""
        rows = self.db.execute("SELECT id, kata, at, gave_up FROM reveals ORDER BY id")
        return [Reveal(number, name, moment(at), bool(gave_up)) for number, name, at, gave_up in rows]

    @survives_damage
    def under_way(self, name: str) -> bool:
        """Tell whether the newest round under a name goes on: neither passed nor shown the model answer."""
        row = self.db.execute(
            "SELECT after_attempt, after_reveal FROM starts WHERE kata = ? ORDER BY id DESC", (name,)
        ).fetchone()
        if row is None:
            return False
        (over,) = self.db.execute(
            "SELECT EXISTS (SELECT 1 FROM attempts WHERE kata = ?1 AND id > ?2 AND whole AND verdict = 'passed') "
            "OR EXISTS (SELECT 1 FROM reveals WHERE kata = ?1 AND id > ?3)",
            (name, *row),
        ).fetchone()
        return not over

    @survives_damage
    def ratings(self) -> list[Rated]:
        """Return all ratings, in order."""
        rows = self.db.execute("SELECT id, card, start, rating, at FROM ratings ORDER BY id")
        return [Rated(number, card, start, rating, moment(at)) for number, card, start, rating, at in rows]

    @survives_damage
    def rate(self, card: str, rating: int, *, start: int = 0, known: int | None = None) -> bool:
        """Store a rating, unless the card has one behind number ``known``: another terminal was first.

        Returns whether it was stored.
        """
        with self.transaction() as db:
            if known is not None:
                (last,) = db.execute("SELECT COALESCE(MAX(id), 0) FROM ratings WHERE card = ?", (card,)).fetchone()
                if last > known:
                    return False
            db.execute(
                "INSERT INTO ratings (card, start, rating, at) VALUES (?, ?, ?, ?)", (card, start, rating, now_text())
            )
        return True

    @survives_damage
    def begin_mock(self, plan: dict[str, Any]) -> int:
        """Store what was agreed, and return the number of the mock interview: of one that runs already, that."""
        import json  # noqa: PLC0415 - few commands have documents

        with self.transaction() as db:
            running = db.execute("SELECT id FROM mocks WHERE ended IS NULL ORDER BY id DESC").fetchone()
            if running:
                return int(running[0])
            cursor = db.execute("INSERT INTO mocks (at, plan) VALUES (?, ?)", (now_text(), json.dumps(plan)))
        return cursor.lastrowid or 0

    @survives_damage
    def mocks(self) -> list[MockRow]:
        """Return all mock interviews, in order."""
        import json  # noqa: PLC0415 - as above

        rows = self.db.execute("SELECT id, at, plan, ended, card FROM mocks ORDER BY id")
        return [
            MockRow(
                number,
                moment(at),
                json.loads(plan),
                moment(ended) if ended else None,
                json.loads(card) if card else None,
            )
            for number, at, plan, ended, card in rows
        ]

    @survives_damage
    def mock_steps(self, mock: int) -> list[MockStep]:
        """Return what happened in a mock interview, in order."""
        import json  # noqa: PLC0415 - as above

        rows = self.db.execute(
            "SELECT kind, stage, at, digest, detail FROM mock_steps WHERE mock = ? ORDER BY id", (mock,)
        )
        return [
            MockStep(kind, stage, moment(at), digest, json.loads(detail or "{}"))
            for kind, stage, at, digest, detail in rows
        ]

    @survives_damage
    def mock_step(
        self,
        /,
        mock: int,
        kind: str,
        stage: int,
        *,
        text: tuple[str, str | bytes] | None = None,
        once: bool = True,
        **detail: Any,
    ) -> bool:
        """Store a step, with the digest and the text of a file; ``once`` refuses a second of its kind in a stage.

        Returns whether it was stored: of two terminals the first counts.
        """
        import json  # noqa: PLC0415 - as above

        with self.transaction() as db:
            known = db.execute(
                "SELECT 1 FROM mock_steps WHERE mock = ? AND kind = ? AND stage = ?", (mock, kind, stage)
            ).fetchone()
            if known and once:
                return False
            if text:
                db.execute("INSERT OR IGNORE INTO sources (digest, text) VALUES (?, ?)", text)
            db.execute(
                "INSERT INTO mock_steps (mock, kind, stage, at, digest, detail) VALUES (?, ?, ?, ?, ?, ?)",
                (mock, kind, stage, now_text(), text[0] if text else None, json.dumps(detail)),
            )
        return True

    @survives_damage
    def end_mock(self, mock: int, card: dict[str, Any]) -> bool:
        """Store the score card, once; tell whether it was this one."""
        import json  # noqa: PLC0415 - as above

        with self.transaction() as db:
            cursor = db.execute(
                "UPDATE mocks SET ended = ?, card = ? WHERE id = ? AND ended IS NULL",
                (now_text(), json.dumps(card), mock),
            )
        return cursor.rowcount == 1

    @survives_damage
    def setting(self, name: str) -> str | None:
        """Return what was set under a name."""
        return self._setting(name)

    @survives_damage
    def set(self, name: str, value: str) -> None:
        """Set something that is kept until it is set anew."""
        with self.transaction():
            self._set(**{name: value})

    def _setting(self, name: str) -> str | None:
        row = self.db.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def _set(self, **settings: str) -> None:
        self.db.executemany("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", settings.items())


def moment(text: str) -> datetime:
    """Return a moment as the history has it."""
    return datetime.fromisoformat(text)


def now_text() -> str:
    """Return the present moment as the history keeps it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
