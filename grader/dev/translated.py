"""What the cases of a kata say, and whether all of it is there in the other languages."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import grader
from grader import catalog, wording
from grader.catalog import Kata
from grader.judge.cases.collect import files_in
from grader.judge.translations import Translations, load
from grader.language import LANGUAGES
from grader.transport.sentences import placeholders

KIT: Final = "grader.kit"
ROOT: Final = Path(grader.__file__).parent.parent
SENTENCE_AT = {"same": 2, "close": 2, "that": 1, "at_most": 2, "no_loop": 3}
"""Where the methods of ``check`` take their sentence."""


def problems(kata: Kata) -> Iterator[str]:
    """Yield what is missing, what belongs to nothing and what has other placeholders, a sentence each."""
    text = "\n".join(file.read_text(encoding="utf-8") for file in files_in(kata.solution))
    tree = ast.parse(text)
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    yield from (f"two cases are called {name}" for name, count in Counter(functions).items() if count > 1)
    said = {*sentences(tree), *sentences(ast.Module([*helpers_of(tree)], []))}
    for lang in LANGUAGES:
        if lang != "en":
            name = f"cases.{lang}.toml"
            if not (kata.solution / name).is_file():
                yield f"{name} is missing"
                continue
            yield from (f"{name}: {problem}" for problem in _problems(load(kata, lang), functions, said))
            yield from _words(kata, lang)


def _words(kata: Kata, lang: str) -> Iterator[str]:
    """Yield what is wrong with the words of stub and model answer; one that has none is shown in English."""
    stub, reference = catalog.words(kata.folder / f"stub.{lang}.toml"), kata.reference_words(lang)
    for name, source, texts in (("stub", kata.stub, stub), ("reference", kata.reference, reference)):
        if texts:
            yield from (f"{name}.{lang}.toml: {problem}" for problem in wording.problems(source(), texts, lang))


def sentences(tree: ast.Module) -> Iterator[str]:
    """Yield every sentence that the cases hand to ``check``, with ``{}`` for what is filled in."""
    for function in tree.body:
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in SENTENCE_AT:
                at = SENTENCE_AT[call.func.attr]
                given = [keyword.value for keyword in call.keywords if keyword.arg == "sentence"]
                for expression in given or call.args[at : at + 1]:
                    yield from _texts(expression, function, tree)


def helpers_of(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Yield the functions of the kit that cases call, and those that these call: they may have a sentence, too."""
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(KIT)]
    for node in imports:
        for alias in node.names:
            named = {alias.name}
            file = ROOT.joinpath(*(node.module or "").split(".")).with_suffix(".py")
            if node.module == KIT:  # a module of the kit as a whole
                used = [one for one in ast.walk(tree) if isinstance(one, ast.Attribute)]
                named = {one.attr for one in used if isinstance(one.value, ast.Name) and one.value.id == alias.name}
                file = ROOT.joinpath(*KIT.split("."), f"{alias.name}.py")
            body = ast.parse(file.read_text(encoding="utf-8")).body
            functions = {one.name: one for one in body if isinstance(one, ast.FunctionDef)}
            todo = [name for name in functions if name in named]
            while todo:
                function = functions.pop(todo.pop(), None)
                if function is not None:
                    yield function
                    todo += [one.id for one in ast.walk(function) if isinstance(one, ast.Name)]


def template(text: ast.Constant | ast.JoinedStr) -> str:
    """Return a text with ``{}`` for what is filled in."""
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    return "".join(
        str(part.value).replace("{", "{{").replace("}", "}}") if isinstance(part, ast.Constant) else "{}"
        for part in parts
    )


def _texts(expression: ast.expr, function: ast.stmt, tree: ast.Module) -> Iterator[str]:
    """Yield the texts that an expression can be: itself, or what a name stands for, in a helper for its callers."""
    if isinstance(expression, ast.JoinedStr) or (
        isinstance(expression, ast.Constant) and isinstance(expression.value, str)
    ):
        yield template(expression)
    elif isinstance(expression, ast.IfExp):
        yield from _texts(expression.body, function, tree)
        yield from _texts(expression.orelse, function, tree)
    elif isinstance(expression, ast.Name):
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == expression.id:
                yield from _texts(node.value, function, tree)
        names = [argument.arg for argument in function.args.args] if isinstance(function, ast.FunctionDef) else []
        if expression.id in names:
            yield from _handed_over(function, names.index(expression.id), tree)


def _handed_over(function: ast.stmt, at: int, tree: ast.Module) -> Iterator[str]:
    name = getattr(function, "name", "")
    for caller in tree.body:
        for call in ast.walk(caller):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == name:
                for expression in call.args[at : at + 1]:
                    yield from _texts(expression, caller, tree)


def _problems(texts: Translations, functions: list[str], said: set[str]) -> Iterator[str]:
    for table, keys in (("titles", functions), ("why", functions), ("sentences", said)):
        entries = getattr(texts, table)
        yield from (f"[{table}] lacks {key!r}" for key in keys if key not in entries)
        yield from (f"[{table}] has {key!r}, which belongs to nothing" for key in entries if key not in keys)
    for english, translation in texts.sentences.items():
        if sorted(placeholders(english)) != sorted(placeholders(translation)):
            yield f"[sentences] {english!r} and its translation have different placeholders"
