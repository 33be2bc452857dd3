"""What a learner reads of a kata's cases in another language: ``solutions/ID/cases.LANG.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from grader.catalog import Kata
from grader.errors import BadKataFile
from grader.transport.sentences import rendered

TABLES: Final = ("titles", "why", "sentences")


@dataclass(frozen=True, slots=True)
class Translations:
    """The texts of the cases of one kata; empty in English, which the cases themselves speak."""

    titles: Mapping[str, str] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)
    sentences: Mapping[str, str] = field(default_factory=dict)

    def sentence(self, english: str) -> str:
        """Return the sentence that a case hands to ``check``."""
        return rendered(english, self.sentences)


def load(kata: Kata, lang: str) -> Translations:
    """Read the texts of a kata's cases; a kata without them speaks English. Raises BadKataFile."""
    file = kata.solution / f"cases.{lang}.toml"
    if lang == "en" or not file.is_file():
        return Translations()
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadKataFile(file, "", str(error)) from error
    for name, table in tables.items():
        if name not in TABLES:
            raise BadKataFile(file, name, f"is none of the tables {', '.join(TABLES)}")
        if not isinstance(table, dict) or not all(isinstance(text, str) and text.strip() for text in table.values()):
            raise BadKataFile(file, name, "must be a table of texts")
    return Translations(**tables)
