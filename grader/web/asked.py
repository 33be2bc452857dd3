"""What a page asks, as JSON: every field is looked at before anybody uses it.

A kata is named by its id, never by a path.
"""

from __future__ import annotations

from typing import Any

from grader import catalog
from grader.cli.base import Target
from grader.errors import UnknownKata, UsageError
from grader.language import LANGUAGES, _


class Asked:
    """One request."""

    def __init__(self, document: Any) -> None:
        if not isinstance(document, dict):
            raise _wrong("{}")
        self._document = document
        self.lang = self.one_of("lang", LANGUAGES)

    def text(self, key: str, otherwise: str | None = None) -> str:
        """Return a text."""
        found = self._document.get(key, otherwise)
        if not isinstance(found, str):
            raise _wrong(key)
        return found

    def flag(self, key: str) -> bool:
        """Return a yes or a no; no where nothing is said."""
        found = self._document.get(key, False)
        if not isinstance(found, bool):
            raise _wrong(key)
        return found

    def number(self, key: str, first: int, last: int, otherwise: int | None = None) -> int:
        """Return a whole number within bounds."""
        found = self._document.get(key, otherwise)
        if not isinstance(found, int) or isinstance(found, bool) or not first <= found <= last:
            raise _wrong(key)
        return found

    def one_of(self, key: str, known: tuple[str, ...]) -> str:
        """Return one of these words."""
        found = self.text(key)
        if found not in known:
            raise _wrong(key)
        return found

    def katas(self, key: str) -> list[str]:
        """Return ids of katas."""
        found = self._document.get(key, [])
        if not isinstance(found, list):
            raise _wrong(key)
        return [_kata(one) for one in found]

    def kata(self) -> catalog.Kata:
        """Return the kata that is named. Raises UnknownKata."""
        return catalog.find(_kata(self.text("kata")))

    def target(self) -> Target:
        """Return what is named: an answer to a kata, or what stands beside it."""
        return Target.of(catalog.beside(self.kata().id, self.one_of("kind", ("", *catalog.KINDS))))


def _kata(found: Any) -> str:
    """Return the id of a kata, as it is: no other spelling, no path."""
    if not isinstance(found, str):
        raise _wrong("kata")
    if not catalog.exists(found):
        raise UnknownKata(found[:80])
    return found


def _wrong(key: str) -> UsageError:
    return UsageError(_("The request is not as it should be: {field}.").format(field=key))
