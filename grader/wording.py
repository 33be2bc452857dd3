"""The words in a file of code, its docstrings, comments and unwritten stubs, in another language; the code as it is.

A translation is a TOML file: ``[docstrings]`` by dotted name, the file's own under ``""``; ``[your_turn]`` by what
follows on `your turn: `; ``[comments]`` by the comment in one line. Comments that hold no word but a shape are code.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import cleandoc
from typing import Final

from grader.language import LANGUAGES

Texts = Mapping[str, dict[str, str]]

YOUR_TURN: Final = {"en": "your turn: ", "zh": "轮到你了："}  # noqa: RUF001 - Chinese punctuation is meant
TABLES: Final = ("docstrings", "your_turn", "comments")
_SHAPE: Final = re.compile(r"#\s*(?:each )?\(.*\)")
_DEFINITIONS: Final = (ast.ClassDef, ast.FunctionDef)


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of a file, and where they stand: from the column of the first line to that of the last."""

    table: str
    key: str
    text: str
    """What they say, in one line or as the lines of a docstring without its indent."""
    start: tuple[int, int]
    end: tuple[int, int]


def pieces(source: str) -> Iterator[Piece]:
    """Yield the words of a file. Raises SyntaxError for what is no Python."""
    tree = ast.parse(source)
    lines = [line.encode() for line in source.splitlines()]
    yield from _docstrings(tree, lines)
    yield from _unwritten(tree, lines)
    yield from _comments(source)


def worded(source: str, texts: Texts, lang: str) -> str:
    """Return a file with its words translated; what has no translation stays as it is."""
    lines = source.splitlines()
    for piece in sorted(pieces(source), key=lambda piece: piece.start, reverse=True):
        text = texts.get(piece.table, {}).get(piece.key)
        if text is not None:
            (first, start), (last, end) = piece.start, piece.end
            before, behind = lines[first - 1][:start], lines[last - 1][end:]
            new = _written(piece.table, text.strip("\n"), before, YOUR_TURN[lang])
            lines[first - 1 : last] = f"{before}{new}{behind}".splitlines()
    return "\n".join(lines) + "\n"


def completed(source: str, own: Texts, stub: Texts, common: Mapping[str, str]) -> Texts:
    """Return the words of a model answer: its own, the stub's docstrings by name, and what many files say alike."""
    texts: dict[str, dict[str, str]] = {table: dict(own.get(table, {})) for table in TABLES}
    for piece in pieces(source):
        theirs = stub.get(piece.table, {}).get(piece.key) if piece.key else None
        text = theirs or common.get(piece.text)
        if text is not None:
            texts[piece.table].setdefault(piece.key, text)
    return texts


def code_of(source: str) -> str:
    """Return what a file does, without its words: two files with the same code do the same."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, *_DEFINITIONS)) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            prefixes = [prefix for prefix in YOUR_TURN.values() if node.value.startswith(prefix)]
            node.value = "your turn" if prefixes else node.value
    return ast.dump(tree)


def problems(source: str, texts: Texts, lang: str) -> Iterator[str]:
    """Yield what is missing from a translation, what belongs to nothing, and what would change the code."""
    found = list(pieces(source))
    for table in texts:
        if table not in TABLES:
            yield f"[{table}] is none of {', '.join(TABLES)}"
    for table in TABLES:
        keys, entries = {piece.key for piece in found if piece.table == table}, texts.get(table, {})
        yield from (f"[{table}] lacks {key!r}" for key in sorted(keys - entries.keys()))
        yield from (f"[{table}] has {key!r}, which belongs to nothing" for key in entries if key not in keys)
    try:
        same = code_of(worded(source, texts, lang)) == code_of(source)
    except SyntaxError as error:
        yield f"makes something that is no Python: {error}"
        return
    if not same:
        yield "changes the code"


def _docstrings(
    scope: ast.Module | ast.ClassDef | ast.FunctionDef, lines: list[bytes], path: str = ""
) -> Iterator[Piece]:
    first = scope.body[0] if scope.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        yield Piece("docstrings", path, cleandoc(first.value.value), *_place(first.value, lines))
    for node in scope.body:
        if isinstance(node, _DEFINITIONS):
            yield from _docstrings(node, lines, f"{path}.{node.name}".lstrip("."))


def _unwritten(tree: ast.Module, lines: list[bytes]) -> Iterator[Piece]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(YOUR_TURN["en"]):
            text = node.value.removeprefix(YOUR_TURN["en"])
            yield Piece("your_turn", text, text, *_place(node, lines))


def _comments(source: str) -> Iterator[Piece]:
    """Yield the comments: lines of one right below another are one comment."""
    block: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not _SHAPE.fullmatch(token.string):
            alone = not token.line[: token.start[1]].strip()
            goes_on = block and alone and token.start == (block[-1].start[0] + 1, block[-1].start[1])
            if block and not goes_on:
                yield _comment(block)
                block = []
            block.append(token)
    if block:
        yield _comment(block)


def _comment(block: list[tokenize.TokenInfo]) -> Piece:
    text = " ".join(token.string.lstrip("# ") for token in block)
    return Piece("comments", text, text, block[0].start, block[-1].end)


def _place(node: ast.Constant, lines: list[bytes]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return where a text begins and ends, in characters; the parser counts bytes."""
    assert node.end_lineno is not None
    end = len(lines[node.end_lineno - 1][: node.end_col_offset].decode())
    return (node.lineno, len(lines[node.lineno - 1][: node.col_offset].decode())), (node.end_lineno, end)


def _written(table: str, text: str, before: str, prefix: str) -> str:
    lines = text.splitlines()
    indent = " " * (len(before) - len(before.lstrip()))
    if table == "comments":
        return f"\n{before}".join(f"# {line}" for line in lines)
    if table == "your_turn":
        return f'"{prefix}{text}"'
    if len(lines) == 1:
        return f'"""{text}"""'
    rest = "\n".join(f"{indent}{line}".rstrip() for line in lines[1:])
    return f'"""{lines[0]}\n{rest}\n{indent}"""'


assert set(YOUR_TURN) == set(LANGUAGES)
