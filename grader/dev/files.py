"""What the files of a kata must hold, without running anything of it against the judge."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader import pages
from grader.catalog import Kata
from grader.debug.plant import plant
from grader.dev import briefs, translated
from grader.errors import KataError
from grader.judge.explain.mistakes import load

FEWEST_HINTS = 3
FEWEST_MISTAKES = {"mha": 18, "kv-cache": 18, "decoder-block": 18}
MISTAKES_OF_CORE_KATAS = 12


def problems(kata: Kata) -> Iterator[str]:
    """Yield what is wrong with the files of a kata, a sentence each."""
    try:
        yield from _texts(kata)
        yield from briefs.problems(kata)
        yield from _signatures(kata)
        yield from _bank(kata)
        yield from _questions(kata)
        yield from translated.problems(kata)
        plant(kata, kata.bugs, seed=0)
    except KataError as error:
        yield error.in_one_line()


def _texts(kata: Kata) -> Iterator[str]:
    for language in ("en", "zh"):
        name = "brief.md" if language == "en" else f"brief.{language}.md"
        if not (kata.folder / name).is_file():
            yield f"{name} is missing"
            continue
        brief = kata.brief(language)
        yield from (f"{name} does not name {entry}" for entry in kata.entry if entry not in brief)
        if len(kata.hints(language)) < FEWEST_HINTS:
            yield f"there are fewer than {FEWEST_HINTS} hints ({language})"


def _signatures(kata: Kata) -> Iterator[str]:
    stub, reference = (_public(text) for text in (kata.stub(), kata.reference()))
    for entry in kata.entry:
        if entry not in stub or entry not in reference:
            yield f"{entry} is not defined in both stub.py and reference.py"
        elif stub[entry] != reference[entry]:
            yield f"{entry}: the stub's signatures {stub[entry]} are not the reference's {reference[entry]}"


def _public(source: str) -> dict[str, dict[str, str]]:
    """Return the signatures of the top-level functions and of the public methods of the classes in a file."""
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = {"": ast.unparse(node.args)}
        elif isinstance(node, ast.ClassDef):
            methods = [n for n in node.body if isinstance(n, ast.FunctionDef)]
            public = [m for m in methods if m.name in ("__init__", "forward") or not m.name.startswith("_")]
            found[node.name] = {m.name: ast.unparse(m.args) for m in public if m.name in ("__init__", "forward")}
    return found


def _questions(kata: Kata) -> Iterator[str]:
    """Yield what is wrong with the ids of the follow-up questions: reviews are remembered by them."""
    english, chinese = (pages.questions(kata.talk(lang)) for lang in ("en", "zh"))
    ids = [question.id for question in english]
    yield from (f"talk.md: `{question.text}` has no id such as <!-- why -->" for question in english if not question.id)
    yield from (
        f"talk.md: the id {name} stands twice" for name in sorted({name for name in ids if ids.count(name) > 1})
    )
    if ids != [question.id for question in chinese]:
        yield "talk.zh.md has other ids than talk.md"
    yield from (f"talk.md: {question.id} has no answer" for question in english if not question.answer)


def _bank(kata: Kata) -> Iterator[str]:
    reference = kata.reference()
    mistakes = load(kata)
    fewest = FEWEST_MISTAKES.get(kata.id, MISTAKES_OF_CORE_KATAS)
    if len(mistakes) < fewest:
        yield f"the bank has {len(mistakes)} mistakes, fewer than {fewest}"
    for mistake in mistakes:
        if mistake.family not in kata.families:
            yield f"mistake {mistake.id}: the kata has no family {mistake.family}"
        if mistake.hint > min(len(kata.hints("en")), len(kata.hints("zh"))):
            yield f"mistake {mistake.id}: there is no hint {mistake.hint}"
        try:
            ast.parse(mistake.applied_to(reference))
        except (ValueError, SyntaxError) as error:
            yield f"mistake {mistake.id}: {error}"
