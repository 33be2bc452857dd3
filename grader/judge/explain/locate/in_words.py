"""Where something stands by the words of a file: what the reference never calls and no number that it has.

That is told where no step shows more: it is true of the line, whatever else is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from grader.judge.explain.locate.flow import FUNCTIONS, Flow, Statement, flow_of
from grader.judge.explain.locate.words import FEW, Located, listed
from grader.judge.explain.mistakes import Mistake, all_applied
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _

ASKING: Final = {
    "gradients": ("is_grad_enabled", "is_inference_mode_enabled", "requires_grad", "is_inference", "grad_fn"),
    "asks": ("requires_grad", "is_leaf", "grad_fn"),
    "mode": ("training",),
    "layout": ("is_contiguous", "stride", "as_strided", "storage_offset", "untyped_storage", "data_ptr"),
    "identity": ("data_ptr", "untyped_storage", "Is", "IsNot"),
    "before": ("_version", "data_ptr", "untyped_storage"),
}
"""By what an answer depends on: the words that ask for it."""
_WORD: Final = re.compile(r"'([A-Za-z_]\w{2,})'|\b(Is|IsNot)\(\)")
"""Names and attributes in what a statement says, and texts of one word."""
_NUMBER: Final = re.compile(r"Constant\(value=(\d[\d.e+-]*)\)")
SMALL: Final = frozenset(("0", "1", "2", "0.0", "1.0", "2.0", "0.5"))
"""Numbers that stand for no choice."""


def locate_in_words(cases: Sequence[CaseOutcome], source: str, mistake: Mistake) -> Located | None:
    """Return where words or numbers of a mistake stand in an answer that the reference has nowhere: few statements.

    Where it has none, the statements of the function in which the mistake is made, if they are few.
    """
    check = next((case.check for case in cases if case.check is not None), None)
    text = next(all_applied((mistake,), check.grading.reference.text), None) if check is not None else None
    if check is None or text is None:
        return None
    model, flow = flow_of(check.grading.reference_text), flow_of(source)
    for said in (_words, _numbers):
        new = _all(flow_of(text), said) - _all(model, said)
        if (found := _standing(cases[0], flow, model, new, said)) is not None:
            return found
    moved = _moved(model, flow_of(text))
    lines = tuple(one.line for one in flow.every() if one.text in moved)
    if 0 < len(lines) <= FEW:
        return Located(cases[0], lines, _("It is done in {where}.").format(where=listed(lines)))
    for name in _changed(check.grading.reference.text, text):
        inside = next((lines for other, lines in functions(source) if other == name), range(0))
        lines = tuple(one.line for one in flow.every() if one.line in inside and flow.is_own(one.line, model))
        lines = tuple(line for line in lines if not flow.at(line).begins and flow.at(line).text)
        if 0 < len(lines) <= FEW:
            return Located(
                cases[0], lines, _("It is made in `{name}`: {where}.").format(name=name, where=listed(lines))
            )
    return None


def locate_asking(cases: Sequence[CaseOutcome], source: str, factor: str) -> Located | None:
    """Return the few statements that ask for what an answer depends on."""
    check = next((case.check for case in cases if case.check is not None), None)
    if check is None:
        return None
    model = flow_of(check.grading.reference_text)
    return _standing(cases[0], flow_of(source), model, ASKING.get(factor, ()), _words)


def locate_number(cases: Sequence[CaseOutcome], source: str) -> Located | None:
    """Return the few statements with a number that the reference has nowhere."""
    check = next((case.check for case in cases if case.check is not None), None)
    if check is None:
        return None
    model, flow = flow_of(check.grading.reference_text), flow_of(source)
    own = [one for one in flow.every() if flow.is_own(one.line, model)]
    known = _all(model, _numbers) | SMALL
    lines = tuple(one.line for one in own if not known.issuperset(_numbers(one.text)))
    if not 0 < len(lines) <= FEW:
        return None
    sentence = _("Such a number stands in {where} alone: the model answer has none like it.")
    return Located(cases[0], lines, sentence.format(where=listed(lines)))


def _standing(
    case: CaseOutcome, flow: Flow, model: Flow, words: Iterable[str], said: Callable[[str], list[str]]
) -> Located | None:
    """Return the fewest statements of an answer's own that have one of these words."""
    found: dict[str, tuple[int, ...]] = {}
    for word in sorted(words):
        its = tuple(one.line for one in flow.every() if word in said(one.text) and flow.is_own(one.line, model))
        if 0 < len(its) <= FEW:
            found[word] = its
    if not found:
        return None
    word = min(found, key=lambda one: (len(found[one]), one))
    lines = found[word]
    shown = {"Is": "is", "IsNot": "is not"}.get(word, word)
    return Located(case, lines, _("`{word}` stands in {where}.").format(word=shown, where=listed(lines)))


def _moved(right: Flow, wrong: Flow) -> set[str]:
    """Return the statements that stand elsewhere in another text, word for word."""
    gone, new = ({at.text for at in part} for part in _differing(right, wrong))
    return gone & new


def _all(flow: Flow, said: Callable[[str], list[str]]) -> set[str]:
    return {word for one in flow.every() for word in said(one.text)}


def _words(text: str) -> list[str]:
    return [name or operator for name, operator in _WORD.findall(text)]


def _numbers(text: str) -> list[str]:
    return _NUMBER.findall(text)


def _changed(right: str, wrong: str) -> Iterator[str]:
    """Yield the names of the functions in which two texts differ, those of what is new first."""
    gone, new = _differing(flow_of(right), flow_of(wrong))
    for text, statements in ((wrong, new), (right, gone)):
        lines = {statement.line for statement in statements}
        yield from (name for name, inside in functions(text) if not lines.isdisjoint(inside))


def _differing(right: Flow, wrong: Flow) -> tuple[list[Statement], list[Statement]]:
    """Return the statements that are gone in another text, and those that are new in it."""
    one, other = ([at for at in flow.every() if at.text] for flow in (right, wrong))
    texts = [at.text for at in one], [at.text for at in other]
    opcodes = SequenceMatcher(None, *texts, autojunk=False).get_opcodes()
    apart = [(first, last, start, end) for kind, first, last, start, end in opcodes if kind != "equal"]
    gone = [at for first, last, _start, _end in apart for at in one[first:last]]
    return gone, [at for _first, _last, start, end in apart for at in other[start:end]]


@lru_cache(maxsize=8)
def functions(source: str) -> tuple[tuple[str, range], ...]:
    """Return the functions and methods of a file, "Class.method", with their lines; none where it is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(_functions(tree.body, ""))


def _functions(body: Sequence[ast.stmt], owner: str) -> Iterator[tuple[str, range]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{node.name}.")
        elif isinstance(node, FUNCTIONS):
            yield f"{owner}{node.name}", range(node.lineno, (node.end_lineno or node.lineno) + 1)
