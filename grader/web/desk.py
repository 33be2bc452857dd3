"""The one thread on which everything happens that touches the learner's files and history."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import click

from grader import language
from grader.cli.base import App, crash
from grader.errors import KataError

T = TypeVar("T")
Post = Callable[[Callable[[App], None], str], None]


class Desk:
    """A thread with the tool in it: one thing after the other, each in the language of who asked for it."""

    def __init__(self, folder: Path, lang: str) -> None:
        self._folder, self._lang = folder, lang
        self._said: list[str] = []
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="desk")

    async def do(self, work: Callable[[App], T], lang: str) -> tuple[T, list[str]]:
        """Do something and return what came of it, with what the tool said meanwhile. Raises KataError."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._done, work, lang)

    def post(self, work: Callable[[App], None], lang: str) -> None:
        """Have something done that nobody waits for; from any thread."""
        self._thread.submit(self._posted, work, lang)

    def close(self, last: Callable[[], None]) -> None:
        """Do a last thing after everything that was asked for, and end."""
        self._thread.submit(self._ended, last).result()
        self._thread.shutdown()

    @cached_property
    def _app(self) -> App:
        # Made on this thread: SQLite wants to be used where it was opened.
        app = App(self._folder, self._lang)
        app.voice = self._said.append
        return app

    def _done(self, work: Callable[[App], T], lang: str) -> tuple[T, list[str]]:
        language.use(lang)
        self._app.lang = lang
        self._said.clear()
        try:
            return work(self._app), list(self._said)
        except KataError:
            raise
        except Exception as error:
            raise crash(error) from error

    def _posted(self, work: Callable[[App], None], lang: str) -> None:
        # Nobody on the page has asked for this: what there is to say stands where `kata web` was typed.
        try:
            said = self._done(work, lang)[1]
        except KataError as error:
            said = [error.in_one_line()]
        for sentence in said:
            click.echo(sentence, err=True)

    def _ended(self, last: Callable[[], None]) -> None:
        try:
            last()
        finally:
            self._app.close()
