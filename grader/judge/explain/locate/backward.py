"""Which statements of a `backward` that an answer wrote itself make a gradient that is wrong.

In the `forward` of a function of one's own (`torch.autograd.Function`) no graph is recorded, and none is cut off.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final

from grader.judge.exchange.compare import agree
from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate.places import located
from grader.judge.explain.locate.statements import Statements
from grader.judge.explain.locate.words import Located
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _

MOST: Final = 6
"""Of more statements those that come last are told."""


def written(case: CaseOutcome, exchange: Exchange, lines: Iterable[int], statements: Statements) -> Located | None:
    """Find them, where all of these lines, at which a graph seems to end, are in the `forward` of such a function."""
    pairs = {statements.backward_of(line) for line in lines}
    if len(pairs) != 1 or (pair := pairs.pop()) is None:
        return None
    forward, backward = pair
    given = [arg.arg for arg in forward.args.args[1:]]
    ends = [node.value for node in ast.walk(backward) if isinstance(node, ast.Return) and node.value is not None]
    found = set[int]()
    for end in ends:
        parts = list(end.elts) if isinstance(end, ast.Tuple) else [end]
        wrong = {part for name, part in zip(given, parts, strict=False) if _is_wrong(exchange, name)} or set(parts)
        made = {part: _made_by(part, backward) for part in parts}
        its = set().union(*(made[part] for part in wrong))
        alone = its.difference(*(made[part] for part in parts if part not in wrong))
        found |= alone or its or {end.lineno}
    where = tuple(dict.fromkeys(statements.of(line) for line in sorted(found, reverse=True)))[:MOST]
    sentence = _("`backward` is the answer's own, and what it returns is not the gradient: {where}.")
    return located(case, where, sentence, title=_("a gradient that is written by hand is wrong"))


def _is_wrong(exchange: Exchange, name: str) -> bool:
    """Whether the gradient of an argument is known to be another one."""
    want, got = exchange.want_grads.get(name), exchange.grads.get(name)
    if want is None or got is None:
        return want is not got
    return want.shape != got.shape or not agree(got, want.to(got.dtype))


def _made_by(end: ast.expr, function: ast.FunctionDef) -> set[int]:
    """Return the lines of a function that a value is made in, but those that only give names to what was kept."""
    kept = function.args.args[0].arg if function.args.args else ""
    lines = set[int]() if isinstance(end, (ast.Name, ast.Constant)) else {end.lineno}
    left, seen = _names(end), set[str]()
    while left:
        name = left.pop()
        seen.add(name)
        for node in ast.walk(function):
            if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) or node.value is None:
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if not any(name in _names(target) for target in targets):
                continue
            if not (isinstance(node.value, ast.Attribute) and kept in _names(node.value)):
                lines.add(node.lineno)
            left |= _names(node.value) - seen
    return lines


def _names(node: ast.expr) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
