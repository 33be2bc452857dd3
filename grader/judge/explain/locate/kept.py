"""What an answer keeps from one call to the next, and the reference does not: where it is kept, and where it is read.

That it is to blame is known where the call that fails is right alone, in a process of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from grader.judge.cases.check import Check
from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.places import located
from grader.judge.explain.locate.statements import FILLS, Statements
from grader.judge.explain.locate.traces import of_answer
from grader.judge.explain.locate.words import FEW, Located
from grader.judge.explain.locate.wrong import wrong_results
from grader.judge.failure import Failure
from grader.judge.runs.outcome import CaseOutcome, failed_after
from grader.judge.verdict.expected import MALFORMED
from grader.judge.verdict.replies import receive
from grader.judge.workers.answer import Worker, worker_of
from grader.judge.workers.backend import Header, Tensors
from grader.judge.workers.pending import MustResubmit
from grader.language import _

CACHES: Final = ("cache", "lru_cache")
NEAR: Final = 3
"""So many lines above a condition stands what it asks by."""
SETS: Final = (*FILLS, "setdefault", "add")
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Kept:
    """A statement that keeps something under a name for later calls."""

    name: str
    line: int
    is_own: bool
    """Whether it is an attribute of the object, so that another object has another one."""
    begins: int = 0
    """The line at which its name began to stand for what is kept, where that is another name of it."""


@lru_cache(maxsize=8)
def kept_in(source: str) -> tuple[Kept, ...]:
    """Return what the functions of a file keep: on their objects, in the file, in defaults, or by a decorator."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    everywhere = {name for node in tree.body for name in _bound(node)}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    found: list[Kept] = []
    for node in ast.walk(tree):
        of_class = {name for one in node.body for name in _bound(one)} if isinstance(node, ast.ClassDef) else set[str]()
        inside = [n for n in ast.iter_child_nodes(node) if isinstance(n, FUNCTIONS)]
        for function in inside:
            found += _by_decorators(function)
            shared = everywhere | of_class | _mutable_defaults(function) | {one.name for one in (*inside, *classes)}
            found += _by_statements(function, shared, is_method=isinstance(node, ast.ClassDef))
    return tuple(dict.fromkeys(found))


def _bound(node: ast.stmt) -> list[str]:
    """Return the names that a statement of a file or a class binds, where it is no function or class."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _mutable_defaults(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    args = [*function.args.posonlyargs, *function.args.args]
    pairs = [*zip(args[len(args) - len(function.args.defaults) :], function.args.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True) if d is not None]
    return {arg.arg for arg, value in pairs if isinstance(value, (ast.Dict, ast.List, ast.Set, ast.Call))}


def _by_decorators(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[Kept]:
    found = []
    for one in function.decorator_list:
        called = one.func if isinstance(one, ast.Call) else one
        if ast.unparse(called).rpartition(".")[2] in CACHES:
            found.append(Kept(function.name, one.lineno, is_own=False))
    return found


def _by_statements(
    function: ast.FunctionDef | ast.AsyncFunctionDef, shared: set[str], *, is_method: bool
) -> list[Kept]:
    own_names = {arg.arg for arg in function.args.args[:1]} if is_method else set[str]()
    declared = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
    found: list[Kept] = []
    begins: dict[str, int] = {}
    simple = [node for node in ast.walk(function) if isinstance(node, ast.stmt) and not hasattr(node, "body")]
    for node in sorted(simple, key=lambda one: one.lineno):
        for target, is_inside in _written(node):
            name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
            is_shared = (name in shared and is_inside) or name in declared
            holder = ast.unparse(target.value) if isinstance(target, ast.Attribute) else ""
            if holder.isidentifier() and name not in shared:
                if holder in shared or (holder in own_names and function.name != "__init__"):
                    found.append(Kept(name, node.lineno, is_own=holder in own_names))
            elif is_shared:
                found.append(Kept(name, node.lineno, is_own=False, begins=begins.get(name, 0)))
            if found and found[-1].line == node.lineno and is_inside:
                shared = shared | set(_bound(node))  # vocabulary = KNOWN.setdefault(...)
                begins |= dict.fromkeys(_bound(node), node.lineno)
    return found


def _written(node: ast.stmt) -> Iterable[tuple[ast.expr, bool]]:
    """Yield what a statement writes to, and whether it only puts something into it."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    targets = [node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign)) else targets
    for target in targets:
        for one in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            is_inside = isinstance(one, ast.Subscript)
            yield (one.value if isinstance(one, ast.Subscript) else one), is_inside
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in SETS:
            yield inner.func.value, True


class Keeps:
    """What an answer keeps and the reference does not."""

    def __init__(self, statements: Statements, model: str, *, stateful: bool) -> None:
        """``stateful``: whether the object is one that has to keep something."""
        theirs = {one.name for one in kept_in(model)}
        mine = kept_in(statements.source)
        self._statements, self._flow = statements, flow_of(statements.source)
        self.kept = tuple(one for one in mine if one.name not in theirs and not (stateful and one.is_own))

    def lines(self, names: Iterable[str] | None = None, ran: set[int] | None = None) -> tuple[int, ...]:
        """Return the lines of what is kept under some names, any unasked: who asks for it, keeps it, reads it.

        ``ran``: the lines that ran in a call. What it read and did not keep itself comes first.
        """
        own = [one for one in self.kept if names is None or one.name in names]
        if not own:
            return ()
        name = min((one.name for one in own), key=lambda name: self._is_old(name, ran or set()))
        stores = [self._flow.at(one.line).line or one.line for one in own if one.name == name]
        stores.sort(key=lambda line: not self._flow.at(line).reads - {"self"})  # a constant is kept for nobody
        stores = [*(one.begins for one in own if one.name == name and one.begins), *stores]
        readers = [s for s in self._flow.every() if name in (s.reads | s.attributes) and s.line not in stores]
        heads = [s.line for s in readers if s.is_head]
        others = [s for s in readers if not s.is_head and not s.begins]
        inside = [s.line for s in others if not set(s.heads).isdisjoint(heads[:1])]
        after = inside or [s.line for s in others if s.line > min(stores)] or [s.line for s in others]
        asked = {name for line in (*heads[:1], *stores[:1]) for name in self._flow.at(line).reads}
        keys = [s.line for s in self._flow.every() if not asked.isdisjoint(s.stores) and not s.is_head]
        keys = [at for at in keys if heads and 0 < heads[0] - at <= NEAR and at not in stores]
        return tuple(dict.fromkeys((*heads[:1], *stores[:1], *keys[-1:], *after[:1], *stores[1:])))[:FEW]

    def _is_old(self, name: str, ran: set[int]) -> tuple[bool, bool]:
        """Return whether a call has kept a name itself, and whether it has not read it: least of what it has found."""
        stores = {one.line for one in self.kept if one.name == name}
        reads = {s.line for s in self._flow.every() if name in (s.reads | s.attributes)} - stores
        return not ran.isdisjoint(stores), ran.isdisjoint(reads)


def by_itself(case: CaseOutcome, statements: Statements) -> Located | None:
    """Find what is kept by an answer that is right where it makes the failing call alone."""
    check, settled = case.check, failed_after(case)
    call = settled[-1] if settled else None
    if check is None or call is None or call.header["op"] != "call" or case.case.trains or case.case.large:
        return None
    keeps = Keeps(statements, check.grading.reference_text, stateful=bool(call.header.get("stateful")))
    lines = keeps.lines()
    if not lines or not _is_right_alone(case, call):
        return None
    trace = of_answer(check, call)
    return from_before(case, keeps.lines(ran={one.line for one in trace.passed}) if trace is not None else lines)


def from_before(case: CaseOutcome, lines: tuple[int, ...]) -> Located | None:
    """Say of some lines that they keep what a later call should not read."""
    sentence = _("A later call reads what an earlier one has left: {where}.")
    return located(case, lines, sentence, title=_("something is kept from one call to the next"))


def _is_right_alone(case: CaseOutcome, call: Exchange) -> bool:
    """Whether a call of a run is right in a process in which nothing else has been called."""
    check = case.check
    assert check is not None
    keeps = bool(call.header.get("stateful")) or any(one.is_own for one in kept_in(check.grading.reference_text))
    every = check.exchanges[: check.exchanges.index(call)]
    alone = [e for e in every if e.header["handle"] == call.header["handle"] and (keeps or e.header["op"] == "build")]
    again = _again(check, call, alone) or _again(check, call, every)  # it may be given what earlier ones returned
    if again is None:
        return False
    if call.want is not None:
        was_wrong = call.reply["kind"] == "error" or bool(wrong_results(call.value, call.want, call))
        return was_wrong and not wrong_results(again.value, call.want, again)
    elsewhere = case.failure is not None and case.failure.kind == "device"
    return call.reply["kind"] == "error" or (elsewhere and again.reply["value"] != call.reply["value"])


def _again(check: Check, call: Exchange, before: Sequence[Exchange]) -> Exchange | None:
    """Have a call made in a process of its own, after some others; None where it returns nothing there."""
    worker = Worker(check.grading.answer, worker_of(check.variant.family, device=check.variant.device))
    again = replace(call, settled=False, value=None)
    try:
        for other in before:
            worker.wait(worker.submit(*_once(other)))
        again.asked = worker.submit(*_once(call))
        receive(again, worker)
    except (Failure, MustResubmit, *MALFORMED):
        return None
    finally:
        worker.close()
    return again if again.reply["kind"] == "value" else None


def _once(exchange: Exchange) -> tuple[Header, Tensors]:
    """Return what is asked for, once and in the plainest way, whichever ways a caller may have to call."""
    header, tensors = exchange.sent
    return header | {"levels": None}, tensors
