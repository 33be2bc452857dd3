"""The answers that pages have open."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from grader.cli.base import App, Target
from grader.web.desk import Post

if TYPE_CHECKING:
    from grader.web.answers import Answer

MOST_OPEN: Final = 6


class Board:
    """The answers that pages have open."""

    def __init__(self, post: Post, ring: Callable[[], None]) -> None:
        self._post, self._ring = post, ring
        # Above all numbers of an earlier server, which a page may have waited at.
        self._count = itertools.count(int(1000 * time.time()))
        self._answers: dict[str, Answer] = {}

    def open(self, app: App, target: Target) -> Answer:
        """Return an answer, which is watched from now on; one that nobody has looked at for longest is left for it."""
        from grader.web.answers import Answer  # noqa: PLC0415 - the desk imports it while the page is loading

        answer = self._answers.pop(target.name, None)
        if answer is None:
            answer = Answer(app, target, self._count, self._post, self._ring)
        self._answers[target.name] = answer
        while len(self._answers) > MOST_OPEN:
            self._answers.pop(next(iter(self._answers))).close()
        return answer

    def find(self, name: str) -> Answer | None:
        """Return an answer that is open; from any thread."""
        return self._answers.get(name)

    def again(self) -> None:
        """Let all of them say everything again."""
        for answer in self._answers.values():
            answer.again()

    def close(self) -> None:
        """Leave all of them."""
        for answer in self._answers.values():
            answer.close()
        self._answers.clear()
