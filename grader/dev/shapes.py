"""Shape comments in a reference, such as ``# (B, H, n, m)``, checked against the tensors of its own cases.

The kata's cases run with the reference in the place of the answer, and a trace function looks at each commented line
once it has run: at what was assigned there, or returned. Several tensors share one comment or have one each: ``# (B,
n), (B, m)``.

What a symbol means in one run of a function is settled once: by a number of that name in the function, in its object
or among the arguments with which the object was built (``H`` and ``B`` are also ``n_heads`` and ``batch``), else by
the size that the symbol stands for when it is first met. Compound sizes such as ``d_model // 2`` are computed. Where
the docstring writes shapes as ``(..., n, m)``, a ``B`` in front stands for any number of axes, as ``...`` does. A
bool mask may have 1 on any axis: it broadcasts.

The rule: a comment is true in *every* run; and for any other symbol that the function's comments use, and for 1,
there is a run in which the two have distinct sizes and the tensor the right one, so that a comment with one in place
of the other would have been false. Lines that no case runs cannot be trusted and are a problem too.
"""

from __future__ import annotations

import ast
import io
import itertools
import math
import sys
import tokenize
import types
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Final

import torch

from grader.catalog import Kata
from grader.dev.rehearsal import rehearse
from grader.transport.wire import tensors_in

ANY_AXES: Final = "..."
ALSO_KNOWN_AS: Final = {"H": "n_heads", "B": "batch"}
_WATCHABLE: Final = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)
_IN_A_SIZE: Final = (
    *(ast.Name, ast.Load, ast.Constant, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod),
    *(ast.Call,),
)

Shape = tuple[int, ...]
Sizes = dict[str, int | Shape]


def problems(kata: Kata) -> Iterator[str]:
    """Yield what is wrong with the shape comments of a kata's reference, a sentence each."""
    comments = [replace(comment, place=kata.reference_place(comment.line)) for comment in read(kata.reference())]
    yield from (f"{comment}: {comment.unusable}" for comment in comments if comment.unusable)
    watchable = [comment for comment in comments if not comment.unusable]
    if watchable:
        watcher = Watcher(watchable, str(kata.solution / "reference.py"))
        yield from rehearse(kata, watcher)
        yield from watcher.problems()


# --- comments ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comment:
    """A shape comment and the statement that it stands behind."""

    line: int
    text: str
    shapes: tuple[tuple[str, ...], ...]
    function: str = ""
    any_leading: bool = False
    lines: range = range(0)
    targets: tuple[str, ...] = ()
    unusable: str = ""
    place: str = ""
    """Where it is written, when that is not the same line of `reference.py`."""

    def __str__(self) -> str:
        return f"{self.place or f'reference.py:{self.line}'}: `# {self.text}`"


def read(source: str) -> list[Comment]:
    """Return the comments behind code that begin with a shape."""
    statements = list(_statements(ast.parse(source)))
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        behind_code = token.type == tokenize.COMMENT and token.line[: token.start[1]].strip()
        text = token.string.lstrip("# ").rstrip() if behind_code else ""
        if shapes := tuple(_shapes(text)):
            found.append(_comment(token.start[0], text, shapes, statements))
    return found


@dataclass(frozen=True, slots=True)
class _Statement:
    node: ast.stmt
    function: str
    docstring: str


def _statements(node: ast.AST, function: str = "", docstring: str = "") -> Iterator[_Statement]:
    """Yield the simple statements of a file with the functions in which they stand."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            name = f"{function}.{child.name}".lstrip(".")
            yield from _statements(child, name, ast.get_docstring(child) or docstring)
        else:
            if isinstance(child, ast.stmt) and not hasattr(child, "body"):
                yield _Statement(child, function, docstring)
            yield from _statements(child, function, docstring)


def _comment(line: int, text: str, shapes: tuple[tuple[str, ...], ...], statements: list[_Statement]) -> Comment:
    def unusable(reason: str) -> Comment:
        return Comment(line, text, shapes, unusable=reason)

    around = [s for s in statements if s.node.lineno <= line <= (s.node.end_lineno or s.node.lineno)]
    if not around or not isinstance(around[-1].node, _WATCHABLE):
        return unusable("only what an assignment or a return makes can be checked")
    statement = around[-1]
    node, last = statement.node, statement.node.end_lineno or statement.node.lineno
    if line != last:
        return unusable("stands inside a statement: only its last line can be checked")
    nodes = () if isinstance(node, ast.Return) else node.targets if isinstance(node, ast.Assign) else (node.target,)  # type: ignore[attr-defined]
    any_leading = "(..., " in statement.docstring
    targets = tuple(map(ast.unparse, nodes))
    return Comment(line, text, shapes, statement.function, any_leading, range(node.lineno, last + 1), targets)


def _shapes(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the shapes at the start of a comment; nothing for prose."""
    while text.startswith("("):
        depth = itertools.accumulate((c == "(") - (c == ")") for c in text)
        end = next((index + 1 for index, level in enumerate(depth) if level == 0), 0)
        try:
            node = ast.parse(text[:end], mode="eval").body
        except SyntaxError:
            return
        if not isinstance(node, ast.Tuple) or not all(map(_is_size, node.elts)):
            return
        yield tuple(map(ast.unparse, node.elts))
        text = text[end:].lstrip(", ")


def _is_size(node: ast.expr) -> bool:
    return all(
        isinstance(part, _IN_A_SIZE)
        and not (isinstance(part, ast.Constant) and type(part.value) is not int and part.value is not ...)
        and not (isinstance(part, ast.Call) and ast.unparse(part.func) != "ceil")
        for part in ast.walk(node)
    )


# --- watching ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sighting:
    """What stood behind a comment once, and the numbers that had names there."""

    comment: Comment
    tensors: list[tuple[Shape, bool]]
    """Their shapes, and whether they are masks."""
    named: dict[str, int]

    def claims(self) -> Iterator[tuple[tuple[str, ...], Shape, bool]]:
        """Put what is claimed beside what is there."""
        shapes = self.comment.shapes
        shapes = shapes * len(self.tensors) if len(shapes) == 1 else shapes
        return ((claimed, shape, mask) for claimed, (shape, mask) in zip(shapes, self.tensors, strict=True))


class Watcher(AbstractContextManager[None]):
    """A trace function for the frames of one file; active inside ``with``."""

    def __init__(self, comments: list[Comment], filename: str) -> None:
        self._comments, self._filename = comments, filename
        self._at_line = {line: comment for comment in comments for line in comment.lines}
        self._built: dict[int, tuple[Any, dict[str, int]]] = {}
        self._judgement = Judgement(comments)
        self._before: Any = None

    def __enter__(self) -> None:
        self._before = sys.gettrace()
        sys.settrace(self._call)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def problems(self) -> Iterator[str]:
        """Yield what the comments are guilty of after all that was seen."""
        return self._judgement.problems()

    def _call(self, frame: types.FrameType, event: str, argument: Any) -> Any:  # noqa: ARG002 - as settrace calls it
        code = frame.f_code
        if code.co_filename != self._filename or (code.co_name.startswith("<") and code.co_name != "<module>"):
            return None  # comprehensions and lambdas are part of the line on which they stand
        sightings: list[Sighting] = []
        here: Comment | None = None
        returning: Comment | None = None

        def trace(frame: types.FrameType, event: str, argument: Any) -> Any:
            nonlocal here, returning
            if event == "exception":
                here = returning = None
            elif event == "line":
                now = self._at_line.get(frame.f_lineno)
                if here is not None and here is not now:
                    if here.targets:
                        sightings.extend(self._look(here, frame))
                    else:  # a `with` around a return is left before the function is
                        returning = here
                here = now
            elif event == "return":
                last = here or returning
                if last is not None:
                    sightings.extend(self._look(last, frame, argument))
                self._remember_constructor(frame)
                self._judgement.take(sightings)
            return trace

        return trace

    def _look(self, comment: Comment, frame: types.FrameType, returned: Any = None) -> Iterator[Sighting]:
        values = [eval(target, frame.f_globals, frame.f_locals) for target in comment.targets[:1]] or [returned]  # noqa: S307 - the reference's own text
        tensors = [(tuple(tensor.shape), tensor.dtype == torch.bool) for tensor in tensors_in(values)]
        if tensors or values != [None]:
            yield Sighting(comment, tensors, self._named_numbers(frame))

    def _named_numbers(self, frame: types.FrameType) -> dict[str, int]:
        owner = frame.f_locals.get("self")
        _, numbers = self._built.get(id(owner), (None, {}))
        numbers = numbers | _numbers(getattr(owner, "__dict__", {})) | _numbers(frame.f_locals)
        aliases = {symbol: numbers[word] for symbol, word in ALSO_KNOWN_AS.items() if word in numbers}
        return aliases | numbers

    def _remember_constructor(self, frame: types.FrameType) -> None:
        owner = frame.f_locals.get("self")
        if frame.f_code.co_name == "__init__" and owner is not None:
            _, before = self._built.get(id(owner), (None, {}))
            self._built[id(owner)] = owner, before | _numbers(frame.f_locals)


def _numbers(names: dict[str, Any]) -> dict[str, int]:
    return {name: value for name, value in names.items() if type(value) is int}


# --- judging ----------------------------------------------------------------------------------------------------------


class Judgement:
    """What is known about each comment after some runs of the functions."""

    def __init__(self, comments: list[Comment]) -> None:
        self._comments = comments
        self._false: dict[Comment, str] = {}
        self._seen: set[Comment] = set()
        self._met: dict[Comment, set[tuple[str, str]]] = {comment: set() for comment in comments}
        self._distinct: dict[Comment, set[tuple[str, str]]] = {comment: set() for comment in comments}
        self._symbols: dict[str, list[str]] = {}
        for comment in comments:
            of_function = self._symbols.setdefault(comment.function, ["1"])
            of_function += [size for size in itertools.chain(*comment.shapes) if _is_plain(size)]

    def take(self, sightings: list[Sighting]) -> None:
        """Judge what was seen in one run of a function."""
        bound: Sizes = {}
        holding = [sighting for sighting in sightings if self._bind(sighting, bound)]
        for sighting in holding:
            self._compute(sighting, {**bound, **sighting.named})

    def problems(self) -> Iterator[str]:
        """Yield a sentence for each comment that is false, never seen or not put to the test."""
        for comment in self._comments:
            if comment in self._false:
                yield f"{comment} is false: {self._false[comment]}"
            elif comment not in self._seen:
                yield f"{comment}: no case runs this line"
            else:
                missing = sorted(self._met[comment] - self._distinct[comment])
                for size, pairs in itertools.groupby(missing, key=lambda pair: pair[0]):
                    others = ", ".join(other for _, other in pairs)
                    yield f"{comment}: no case shows that {size} is a size of its own there, distinct from {others}"

    def _bind(self, sighting: Sighting, bound: Sizes) -> bool:
        """Settle the symbols that have no value yet. Returns whether the comment may hold."""
        comment, there = sighting.comment, len(sighting.tensors)
        if there == 0 or len(comment.shapes) not in (1, there):
            return self._is_false(comment, f"it stands for {len(comment.shapes)} tensors, there are {there}")
        for claimed, shape, mask in sighting.claims():
            pairs = _paired(comment, claimed, shape)
            if pairs is None:
                return self._is_false(comment, f"the shape is {shape}")
            for size, value in pairs:
                if size.isidentifier() and size not in sighting.named and not (mask and value == 1):
                    bound.setdefault(size, value)
        return True

    def _compute(self, sighting: Sighting, sizes: Sizes) -> None:
        comment = sighting.comment
        broadcast: set[str] = set()
        for claimed, shape, mask in sighting.claims():
            for size, value in _paired(comment, claimed, shape) or ():
                expected = _value(size, sizes)
                if mask and value == 1 and expected != 1:
                    broadcast.add(size)
                elif expected is None:
                    self._is_false(comment, f"{size} has no value here")
                    return
                elif _axes(expected) != _axes(value) and size != ANY_AXES:
                    self._is_false(comment, f"the shape is {shape}, where {size} = {expected}")
                    return
        self._seen.add(comment)
        for size in filter(_is_plain, itertools.chain(*comment.shapes)):
            self._tell_apart(comment, size, sizes, tested=size not in broadcast)

    def _tell_apart(self, comment: Comment, size: str, sizes: Sizes, *, tested: bool) -> None:
        """Note from which other symbols a size of the comment was distinct when it was found to be right."""
        mine = _value(size, sizes)
        for other in self._symbols[comment.function]:
            its = _value(other, sizes)
            if other == size or its is None or (mine is None and tested):
                continue
            self._met[comment].add((size, other))
            if tested and mine is not None and _axes(mine) != _axes(its):
                self._distinct[comment].add((size, other))

    def _is_false(self, comment: Comment, why: str) -> bool:
        self._false.setdefault(comment, why)
        return False


def _paired(comment: Comment, claimed: tuple[str, ...], shape: Shape) -> list[tuple[str, int | Shape]] | None:
    """Pair sizes with axes, the first with all the leading ones where it may be; None where their number is wrong."""
    first = claimed[0] if claimed else ""
    if first == ANY_AXES or (first == "B" and comment.any_leading):
        leading = len(shape) - len(claimed) + 1
        return None if leading < 0 else [(first, shape[:leading]), *zip(claimed[1:], shape[leading:], strict=True)]
    return list(zip(claimed, shape, strict=True)) if len(claimed) == len(shape) else None


def _is_plain(size: str) -> bool:
    return size.isidentifier() or size.isdigit()


def _axes(size: int | Shape) -> Shape:
    return size if isinstance(size, tuple) else (size,)


def _value(size: str, sizes: Sizes) -> int | Shape | None:
    """Compute a size; None where it has a symbol without a value."""
    if size == ANY_AXES:
        return ()
    if size.isidentifier():
        return sizes.get(size)
    try:
        value = eval(size, {"__builtins__": {}, "ceil": math.ceil}, dict(sizes))  # noqa: S307 - sizes only, see _is_size
    except (NameError, TypeError, ZeroDivisionError):
        return None
    return int(value) if value == int(value) else None
