"""Two roles of a module that have one parameter: what was loaded for the one is lost, and where that comes from."""

from __future__ import annotations

import ast
from functools import lru_cache

import torch

from grader.judge.cases.check import Check
from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate.places import located
from grader.judge.explain.locate.traces import Trace, of_answer, of_reference
from grader.judge.explain.locate.words import FEW, Located
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _


@lru_cache(maxsize=8)
def shares(source: str) -> tuple[int, ...]:
    """Return the lines at which a file gives two names one module or parameter, or repeats one in a list."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt) and _shares(node))


def _shares(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Assign, ast.Expr, ast.AnnAssign, ast.Return)):
        repeats = (n for n in ast.walk(node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult))
        if any(_is_list_of_one(part) for n in repeats for part in (n.left, n.right)):
            return True
    if not isinstance(node, ast.Assign):
        return False
    own = [target for target in node.targets if isinstance(target, ast.Attribute)]
    if isinstance(node.value, ast.Call):  # self.W_q = self.W_k = nn.Linear(…)
        return len(own) > 1
    return len(own) > 0 and isinstance(node.value, ast.Attribute) and ast.unparse(node.value).startswith("self.")


def _is_list_of_one(node: ast.expr) -> bool:
    what = (ast.Name, ast.Attribute, ast.Call)
    return isinstance(node, ast.List) and len(node.elts) == 1 and isinstance(node.elts[0], what)


def shared(case: CaseOutcome, exchange: Exchange, source: str) -> Located | None:
    """Return where a file shares what should be two parameters; None where all that was loaded is still to be seen."""
    lines, check = shares(source), case.check
    if not lines or len(lines) > FEW or check is None or exchange.header["op"] != "call":
        return None
    loaded = _loaded(check, exchange)
    reference = of_reference(check, exchange) if len(loaded) > 1 else None
    answer = of_answer(check, exchange) if reference is not None else None
    if reference is None or answer is None:
        return None
    lost = [name for name, value in loaded.items() if _is_there(reference, value) and not _is_there(answer, value)]
    used = any(_is_there(answer, value) for value in loaded.values())
    if not lost or not used:
        return None
    sentence = _("What was loaded as `{name}` is not there any more: two names stand for one parameter in {where}.")
    return located(case, lines, sentence, title=_("parameters are shared"), name=lost[0])


def _loaded(check: Check, exchange: Exchange) -> dict[str, torch.Tensor]:
    """Return what the module that is called was given for its parameters, as far as no two are equal."""
    builds = (e for e in check.exchanges if e.header["op"] == "build")
    state = next((e.trees.get("state") for e in builds if e.header["handle"] == exchange.header["handle"]), None)
    return {name: value for name, value in state.items() if value.dim() > 1} if isinstance(state, dict) else {}


def _is_there(trace: Trace, value: torch.Tensor) -> bool:
    """Whether a call read a tensor with just these numbers that was there before."""
    return any(
        step.is_source
        and step.value is not None
        and step.value.shape == value.shape
        and torch.allclose(step.value.double(), value.double(), atol=1e-3)
        for step in trace.steps
    )
