"""What is said of an answer: a known mistake, and the cases in which it does what the answer did."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from typing import Any, Final

from grader.judge.explain.levels import depends_on_gradients
from grader.judge.explain.mistakes import Mistake
from grader.judge.runs.outcome import CaseOutcome
from grader.transport.wire import tensors_in


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A mistake and the failing cases in which it did what the answer did."""

    mistake: Mistake
    cases: tuple[str, ...]
    together: bool = False
    """Whether the answer makes it and another one; several that are not together are guesses at one."""
    beside: tuple[Mistake, ...] = ()
    """The others that the answer makes in the same cases: alone it does not do what the answer did."""

    def document(self, lang: str) -> dict[str, Any]:
        """Return the entry of the report."""
        texts = {key: getattr(self.mistake, key)[lang] for key in ("title", "explain", "nudge")}
        about = {"hint": self.mistake.hint, "cases": list(self.cases), "together": self.together}
        return {"id": self.mistake.id, **texts, **about}


def diagnosis_of(mistake: Mistake, cases: list[CaseOutcome]) -> Diagnosis:
    """Return what is said of a mistake and the failing cases that it explains."""
    return Diagnosis(mistake, tuple(case.id for case in cases))


def both_of(*pairs: tuple[Mistake, list[CaseOutcome]]) -> list[Diagnosis]:
    """Return what is said of two mistakes in one file, each with its own failing cases."""
    return [Diagnosis(mistake, tuple(case.id for case in cases), together=True) for mistake, cases in pairs]


def merged(found: list[Diagnosis]) -> list[Diagnosis]:
    """Tell a mistake once that was found in a family by itself and in what was left, too."""
    every: dict[str, Diagnosis] = {}
    for one in found:
        known = every.get(one.mistake.id)
        cases = (case for case in one.cases if known is None or case not in known.cases)
        every[one.mistake.id] = replace(known or one, cases=(*(known.cases if known else ()), *cases))
    return list(every.values())


def first_of_guesses(found: list[Diagnosis]) -> list[Diagnosis]:
    """Return mistakes that are made beside each other; of several guesses at one the first."""
    return found if found and found[0].together else found[:1]


_A_LARGE_NUMBER: Final = re.compile(r"-1e\d|-10000|-65504")
"""In a title: a number that stands in for minus infinity."""
LARGE: Final = 100.0
"""From here on a number may be one that stands in for infinity."""


def is_seen(diagnosis: Diagnosis, cases: list[CaseOutcome], source: str) -> bool:
    """Whether what a name says is to be seen: NaN in the numbers of its cases, NumPy or a large number in the answer.

    What shows only where no gradients are recorded is not what the answer does.
    """
    title = diagnosis.mistake.title["en"]
    if any(map(depends_on_gradients, cases)):
        return False
    if "NumPy" in title and "numpy" not in source:
        return False
    if _A_LARGE_NUMBER.search(title) and not _has_a_large_number(source):
        return False
    return "NaN" not in title or any(map(_has_nan, cases))


def _has_a_large_number(source: str) -> bool:
    """Whether a large number is written in an answer, or taken from a dtype."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and abs(node.value) >= LARGE:
            return True
        if isinstance(node, ast.Pow) or (isinstance(node, (ast.Attribute, ast.Name)) and _name_of(node) == "finfo"):
            return True
    return False


def _name_of(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


def _has_nan(case: CaseOutcome) -> bool:
    check = case.evidence.checked
    exchanges = [exchange for exchange in check.exchanges if exchange.settled] if check is not None else []
    tensors = (tensor for e in exchanges for tensor in tensors_in([e.value, e.grads]))
    return any(tensor.is_floating_point() and bool(tensor.isnan().any()) for tensor in tensors)
