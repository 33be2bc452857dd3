"""The catalogues of the tool's own sentences: found in the code, kept in .po files, compiled into .mo files.

`make messages` adds what is new, drops what is gone and compiles; what is then left to translate it names.
"""

from __future__ import annotations

import ast
import datetime as dt
import inspect
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Final

from babel.messages import mofile, pofile
from babel.messages.catalog import Catalog, Message

from grader.language import CATALOGUES, DOMAIN, LANGUAGES

PACKAGE: Final = Path(__file__).resolve().parent.parent
SPOKEN: Final = ("_", "marked", "plural")
CLICK: Final = "click"
"""Where a sentence comes from that click hands to gettext itself; such entries are kept by hand."""

_AUTHORS: Final = "The kata authors"
_DATE: Final = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
"""Babel puts dates into the head of a catalogue; the history of the repository knows them better."""

Key = tuple[str, ...]
"""One sentence, or its two forms for one and many."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A sentence in another language, and the files in which it stands in English."""

    text: str
    files: tuple[str, ...]


def sentences(package: Path = PACKAGE) -> dict[Key, tuple[str, ...]]:
    """Return every sentence in the code that a reader may see, with the files in which it stands."""
    found: dict[Key, list[str]] = {}
    for file in sorted(package.rglob("*.py")):
        name = file.relative_to(package.parent).as_posix()
        for key in _spoken(ast.parse(file.read_text(encoding="utf-8")), is_cli=file.parent.name == "cli"):
            if name not in found.setdefault(key, []):
                found[key].append(name)
    return {key: tuple(files) for key, files in found.items()}


def catalogue(lang: str) -> Path:
    """Return the .po file of a language."""
    return CATALOGUES / lang / "LC_MESSAGES" / f"{DOMAIN}.po"


def read(file: Path) -> dict[Key, Entry]:
    """Read a .po file."""
    if not file.is_file():
        return {}
    with file.open("rb") as stream:
        found = pofile.read_po(stream)
    entries: dict[Key, Entry] = {}
    for message in found:
        if message.id:
            key = (message.id,) if isinstance(message.id, str) else tuple(map(str, message.id))
            text = message.string if isinstance(message.string, str) else (message.string or [""])[0]
            entries[key] = Entry(text, tuple(name for name, _line in message.locations))
    return entries


def write(file: Path, entries: dict[Key, Entry], lang: str) -> None:
    """Write a .po file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as stream:
        pofile.write_po(stream, _catalog(entries, lang), width=0, omit_header=True, include_lineno=False)


def compiled(entries: dict[Key, Entry], lang: str) -> bytes:
    """Return the .mo file, as gettext reads it."""
    stream = io.BytesIO()
    mofile.write_mo(stream, _catalog(entries, lang))
    return stream.getvalue()


class _Catalog(Catalog):
    """Entries under headers that do not say which version of Babel wrote them."""

    def __iter__(self) -> Iterator[Message]:
        for message in super().__iter__():
            if not message.id:
                lines = str(message.string).splitlines(keepends=True)
                message.string = "".join(line for line in lines if not line.startswith("Generated-By"))
            yield message


def _catalog(entries: dict[Key, Entry], lang: str) -> Catalog:
    """Return what Babel writes; nothing in it tells when, or by which Babel, so that equal entries give equal files."""
    catalog = _Catalog(
        locale=lang,
        project=DOMAIN,
        version="-",
        copyright_holder=_AUTHORS,
        msgid_bugs_address="-",
        last_translator=_AUTHORS,
        language_team=_AUTHORS,
        creation_date=_DATE,
        revision_date=_DATE,
        fuzzy=False,
    )
    for key, entry in entries.items():
        places = [(name, 0) for name in entry.files]
        catalog.add(key if len(key) > 1 else key[0], (entry.text,) if len(key) > 1 else entry.text, places)
    return catalog


def problems(lang: str) -> Iterator[str]:
    """Yield what is wrong with the catalogue of a language, a sentence each."""
    file, found = catalogue(lang), sentences()
    entries = read(file)
    for key in found.keys() - entries.keys():
        yield f"{found[key][0]}: {key[0]!r} is not in the catalogue: make messages"
    for key, entry in entries.items():
        if key not in found and entry.files != (CLICK,):
            yield f"{file.name}: {key[0]!r} stands nowhere in the code: make messages"
        elif not entry.text.strip():
            yield f"{file.name}: {key[0]!r} has no translation"
        elif placeholders(entry.text) != placeholders(key[-1]):
            yield f"{file.name}: {key[0]!r} and its translation have different placeholders"
        elif entry.text.count("\n\n") != key[-1].count("\n\n"):
            yield f"{file.name}: {key[0]!r} and its translation have different paragraphs"
    if file.with_suffix(".mo").read_bytes() != compiled(entries, lang):
        yield f"{file.with_suffix('.mo').name} is not what {file.name} compiles to: make messages"


def placeholders(text: str) -> set[str]:
    """Return the names in braces of a sentence."""
    return {name for _text, name, _format, _conversion in Formatter().parse(text) if name is not None}


def update(lang: str) -> list[str]:
    """Bring the files of a language up to date and return the sentences that have no translation yet."""
    file, found = catalogue(lang), sentences()
    known = read(file)
    entries = {key: Entry(known[key].text if key in known else "", files) for key, files in found.items()}
    entries |= {key: entry for key, entry in known.items() if entry.files == (CLICK,) and key not in found}
    write(file, entries, lang)
    file.with_suffix(".mo").write_bytes(compiled(entries, lang))
    return [key[0] for key, entry in entries.items() if not entry.text]


def _spoken(tree: ast.Module, *, is_cli: bool) -> Iterator[Key]:
    nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Call, ast.FunctionDef))]
    for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in SPOKEN:
                texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
                if texts and texts[0]:
                    yield tuple(texts)
            elif is_cli:
                yield from ((text,) for text in _help_texts(node))
        elif is_cli and isinstance(node, ast.FunctionDef) and any(map(_makes_a_command, node.decorator_list)):
            yield (inspect.cleandoc(ast.get_docstring(node) or ""),)


def _help_texts(call: ast.Call) -> Iterator[str]:
    for keyword in call.keywords:
        if keyword.arg in ("help", "short_help") and isinstance(keyword.value, ast.Constant):
            yield str(keyword.value.value)


def _makes_a_command(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute) and called.attr in ("command", "group")


def main() -> int:
    """Bring all catalogues up to date; ends with 1 where something is left to translate."""
    left = {lang: update(lang) for lang in LANGUAGES if lang != "en"}
    for lang, open_sentences in left.items():
        for sentence in open_sentences:
            print(f"{lang}: {sentence!r} has no translation yet", file=sys.stderr)  # noqa: T201 - for authors
    return int(any(left.values()))


if __name__ == "__main__":
    sys.exit(main())
