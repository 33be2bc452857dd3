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
from grader.judge.explain.locate.guards import refused
from grader.judge.explain.locate.places import located
from grader.judge.explain.locate.statements import statements_of
from grader.judge.explain.locate.words import FEW, Located
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
BEFORE_ITS_OWN: Final = "before Module.__init__() call"
"""What torch says where a class that is a module gets layers before it has called the constructor of Module."""
MOST_IN_A_FUNCTION: Final = 5
"""So many statements of a function are told where nothing else is known."""
MOST_ELSEWHERE: Final = 10
"""So many statements of a function are told where it is known that it goes wrong for what that has left."""
ANYWHERE: Final = frozenset(("device", "dim", "dtype", "keepdim", "reshape", "shape", "size", "unsqueeze", "view"))
"""Words that stand in any line and tell nothing of a mistake."""
CONSTRUCTOR: Final = ast.dump(ast.parse("super()").body[0])
_NUMBER: Final = re.compile(r"Constant\(value=(\d[\d.e+-]*)\)")
SMALL: Final = frozenset(("0", "1", "2", "3", "0.0", "1.0", "2.0", "0.5"))
"""Numbers that stand for no choice, or for an axis."""
_AT_FIRST: Final = re.compile(r"'(init|\w+_init|normal_|uniform_|trunc_normal_|(xavier|kaiming)_\w+)'")
"""What gives weights their first numbers: others are loaded."""


def locate_in_words(
    cases: Sequence[CaseOutcome], source: str, mistake: Mistake, place: Located | None = None
) -> Located | None:
    """Return where words or numbers of a mistake stand in an answer that the reference has nowhere: few statements.

    Where it has none, the statements that it moves, or those of the function in which it is made, if they are few.
    ``place``: where it goes wrong by its numbers: words elsewhere tell nothing then.
    """
    texts = _without_and_with(cases, mistake)
    if texts is None:
        return None
    model, text = texts
    right, wrong, flow = flow_of(model), flow_of(text), flow_of(source)
    own = _own(flow, right)
    for said in (_words, _numbers):
        found = _standing(cases[0], own, _all(wrong, said) - _all(right, said) - ANYWHERE, said)
        if found is not None and (place is None or place.is_open or set(found.lines) <= set(place.lines)):
            return found
    gone, new = _differing(right, wrong)
    moved = {at.text for at in gone} & {at.text for at in new}
    lines = tuple(at.line for at in flow.every() if at.text in moved)
    over = _moved_over(right, wrong, moved)
    others = tuple(at.line for at in flow.every() if at.text in over and at.line not in lines)
    lines = (*lines, *others) if lines and len(lines) + len(others) <= FEW else lines
    if len(lines) <= FEW and (found := located(cases[0], lines, _("It is done in {where}."))) is not None:
        return found
    most = FEW if place is not None else MOST_IN_A_FUNCTION
    return _made_in(cases[0], _changed(model, text), source, model, most, alone=place is None)


def locate_elsewhere(cases: Sequence[CaseOutcome], source: str, mistake: Mistake, place: Located) -> Located | None:
    """Return the statements of the function in which a mistake is made, where another goes wrong for what it left.

    Both have the names of the reference's.
    """
    texts = _without_and_with(cases, mistake)
    if texts is None:
        return None
    model, text = texts
    flow, changed, known = flow_of(source), _changed(model, text), dict(functions(model))
    here = set(_functions_of(source, [flow.at(line) for line in place.lines]))
    if not here or not changed or not here.isdisjoint(changed) or not here <= known.keys():
        return None
    return _made_in(cases[0], changed, source, model, MOST_ELSEWHERE)


def _made_in(
    case: CaseOutcome, names: Iterable[str], source: str, model: str, most: int, *, alone: bool = False
) -> Located | None:
    """Return the statements of the first of these functions that has some of its own, and not too many.

    So are those of functions that it calls and the reference does not have. What stands in another function of the
    reference is its own, too. ``alone``: those of the function tell something without the others.
    """
    flow, theirs = flow_of(source), flow_of(model)
    here, there = dict(functions(source)), dict(functions(model))
    for name in names:
        called = [other for other in here if other not in there and _calls(flow, here.get(name, range(0)), other)]
        known = {at.text for at in theirs.every() if at.line in there.get(name, range(0))}
        every = [at for other in (name, *called) for at in flow.every() if at.line in here.get(other, range(0))]
        lines = tuple(dict.fromkeys(at.line for at in every if at.text and at.text not in known))
        inside = tuple(line for line in lines if line in here.get(name, range(0)))
        for some, room in ((lines, MOST_ELSEWHERE if called and most > FEW else most), (inside, most if alone else 0)):
            if 0 < len(some) <= room:
                return located(case, some, _("It is made in `{name}`: {where}."), name=name)
    return None


def _calls(flow: Flow, inside: range, function: str) -> bool:
    """Whether a statement between some lines names a function, or a method of the same object."""
    name = function.rpartition(".")[2]
    word = f"attr='{name}'" if "." in function else f"id='{name}'"
    return any(word in at.text for at in flow.every() if at.line in inside)


def locate_asking(cases: Sequence[CaseOutcome], source: str, factor: str) -> Located | None:
    """Return the few statements that ask for what an answer depends on."""
    model = _model(cases)
    if model is None:
        return None
    return _standing(cases[0], _own(flow_of(source), flow_of(model)), ASKING.get(factor, ()), _words)


def locate_number(cases: Sequence[CaseOutcome], source: str) -> Located | None:
    """Return the few statements with a number that the reference has nowhere."""
    model = _model(cases)
    if model is None:
        return None
    known = _all(flow_of(model), _numbers) | SMALL
    own = [at for at in _own(flow_of(source), flow_of(model)) if not _AT_FIRST.search(at.text)]
    lines = tuple(at.line for at in own if not known.issuperset(_numbers(at.text)))
    if len(lines) > FEW:
        return None
    sentence = _("Such a number stands in {where} alone: the model answer has none like it.")
    return located(cases[0], lines, sentence)


def locate_refusal(cases: Sequence[CaseOutcome], source: str) -> Located | None:
    """Return where a constructor refuses what the task allows, or begins without that of the class that it is of."""
    case, failure, statements = cases[0], cases[0].failure, statements_of(source)
    if case.check is None or failure is None or failure.kind != "error" or not failure.line:
        return None
    if BEFORE_ITS_OWN not in failure.message:
        return refused(case, statements)
    flow = flow_of(source)
    named = (at.line for at in flow.every() if at.drops and at.text == CONSTRUCTOR)  # super() alone calls nothing
    begin = flow.begin_of(failure.line)
    lines = tuple(line for line in (*(at for at in named if begin < at <= failure.line), begin, failure.line) if line)
    return located(case, lines, _("`super().__init__()` has to come first: {where}."))


def _model(cases: Sequence[CaseOutcome]) -> str | None:
    """Return the text of the reference; None where no case has been looked at."""
    return next((case.check.grading.reference_text for case in cases if case.check is not None), None)


def _without_and_with(cases: Sequence[CaseOutcome], mistake: Mistake) -> tuple[str, str] | None:
    """Return the text of the reference without a mistake and with it; None where no case has been looked at."""
    model = _model(cases)
    text = next(all_applied((mistake,), model), None) if model is not None else None
    return (model, text) if model is not None and text is not None else None


def _changed(model: str, text: str) -> tuple[str, ...]:
    """Return the names of the functions in which two texts differ."""
    gone, new = _differing(flow_of(model), flow_of(text))
    return (*_functions_of(text, new), *_functions_of(model, gone))


def _own(flow: Flow, model: Flow) -> list[Statement]:
    """Return the statements that the reference does not have word for word."""
    return [at for at in flow.every() if flow.is_own(at.line, model)]


def _standing(
    case: CaseOutcome, own: Sequence[Statement], words: Iterable[str], said: Callable[[str], list[str]]
) -> Located | None:
    """Return the fewest statements of an answer's own that have one of these words."""
    every = {word: tuple(at.line for at in own if word in said(at.text)) for word in words}
    few = {word: lines for word, lines in every.items() if 0 < len(lines) <= FEW}
    beside = {word: sum(not set(lines).isdisjoint(few[word]) for lines in few.values()) for word in few}
    word = min(few, key=lambda one: (len(few[one]), -beside[one], one), default="")
    shown = {"Is": "is", "IsNot": "is not"}.get(word, word)
    return located(case, few.get(word, ()), _("`{word}` stands in {where}."), word=shown)


def _all(flow: Flow, said: Callable[[str], list[str]]) -> set[str]:
    return {word for one in flow.every() for word in said(one.text)}


def _words(text: str) -> list[str]:
    return [name or operator for name, operator in _WORD.findall(text)]


def _numbers(text: str) -> list[str]:
    return _NUMBER.findall(text)


def _moved_over(right: Flow, wrong: Flow, moved: set[str]) -> set[str]:
    """Return the statements over which others were moved: it may be these that stand in the wrong place."""
    found: set[str] = set()
    for text in moved:
        one, other = ([at.text for at in flow.every() if at.text] for flow in (right, wrong))
        first, last = one.index(text), other.index(text)
        before, after = set(one[:first]) & set(other[last:]), set(one[first:]) & set(other[:last])
        found |= (before | after) - moved
    return found


def _functions_of(text: str, statements: Iterable[Statement]) -> list[str]:
    """Return the names of the functions of a file that statements stand in."""
    lines = {at.line for at in statements}
    return [name for name, inside in functions(text) if not lines.isdisjoint(inside)]


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
