"""Where a learner stands: all that is shown of it follows from the history."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from grader import catalog
from grader.history import Summary
from grader.practice.agenda import Agenda, agenda, days_in_a_row
from grader.practice.questions import Asked, in_turn
from grader.practice.rounds import Round
from grader.practice.schedule import Card


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a learner stands."""

    now: datetime
    done: dict[str, Summary]
    rounds: list[Round]
    cards: dict[str, Card]
    current: str | None
    """What was worked on last, by its name in workspace and history."""

    @property
    def passed(self) -> set[str]:
        """The katas that were passed."""
        return {name for name, summary in self.done.items() if summary.passed and name in catalog.katas()}

    @property
    def today(self) -> date:
        """The local day."""
        return self.now.astimezone().date()

    def open_round(self) -> Round | None:
        """Return the round that goes on with what was worked on last."""
        if self.current is None:
            return None
        own = [one for one in self.rounds if one.name == self.current]
        return own[-1] if own and own[-1].over is None else None

    def days_in_a_row(self) -> int:
        """Return on how many days in a row something was done."""
        moments = [one.over or one.began for one in self.rounds] + [card.last for card in self.cards.values()]
        moments += [summary.last for summary in self.done.values() if summary.last]
        return days_in_a_row(moments, self.today)

    def agenda(self, asked: Sequence[Asked], minutes: int | None = None) -> Agenda:
        """Return what to do today."""
        opened = self.open_round()
        current = catalog.katas().get(opened.kata) if opened and opened.name == opened.kata else None
        turn = in_turn(asked, self.cards, self.passed, self.now)
        ids = [one.id for one in turn]
        after = catalog.kata_of(self.current or "")
        return agenda(self.cards, self.passed, ids, self.now, current=current, after=after, minutes=minutes)
