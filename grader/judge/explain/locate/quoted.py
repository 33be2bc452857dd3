"""Which line of a place is quoted: the one to look at first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.statements import statements_of
from grader.judge.explain.locate.words import FEW, Located
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _

WORD: Final = re.compile(r"\w+|[^\w\s]")
SAME: Final = (
    (re.compile(r"(?:math|torch)\.sqrt\((.*)\)"), r"\1 ** 0.5"),
    (re.compile(r"\.size\((-?\d+)\)"), r".shape[\1]"),
    (re.compile(r"\.mT\b"), ".transpose(-2, -1)"),
)
"""What is written in several ways, and the one it is compared as."""
TELLS: Final = re.compile(r"[A-Za-z_]\w*|\d[\d.e]*|[<>=]=|-\w+")
"""What tells in a line: names, numbers, comparisons."""
LEAVES: Final = re.compile(r"(raise|return|break|continue|pass)\b")
"""Statements that only leave tell nothing of what is done."""
NUMBER: Final = re.compile(r"-?\d+(\.\d*)?(e\d+)?")
NUMBERS_OF_ALL: Final = frozenset((-3.0, -2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0))
NAMES_OF_ALL: Final = frozenset(("self", "torch", "F", "nn", "math"))
LEAST: Final = 0.1
"""A line with all that is new in a mistake has to share so many of its words beside it."""
MUCH_LIKE: Final = 0.65
"""A line with so many of the words is like it whatever else it lacks."""
APART: Final = 0.05
"""Nothing else may be as like it but for so much."""
SOMEWHAT_LIKE: Final = 0.4
MORE: Final = 0.1
"""Of the lines of a place one is quoted that has so many of the words, and so many more than the first one."""
LIKE: Final = 0.5
"""A line that has so many of the words of a mistake, of those of both, is like it."""


def quoted(place: Located, source: str, edits: Sequence[tuple[str, str]] = ()) -> int:
    """Return the first line that the reference does not have word for word; of an error that where it is raised.

    ``edits``: what a mistake changes in the reference, if it has a name: the line that is like it is the one. Where it
    only leaves something out, that may be before any line: the first one is where it shows.
    """
    check, failure = place.case.check, place.case.failure
    if check is None or failure is None or failure.group == "error":
        return place.line
    flow, model = flow_of(source), flow_of(check.grading.reference_text)
    own = [line for line in place.lines if flow.is_own(line, model)]
    if (led := led_to(source, check.grading.reference_text, edits)) in place.lines:
        return led
    made = {line for _find, instead in edits for line in instead.splitlines()}
    gone = {line for find, _instead in edits for line in find.splitlines()}
    made, gone = made - gone, gone - made
    if edits and not made:
        return place.line
    new = _numbers_in(made) - _numbers_in(gone)
    with_all = [line for line in own if new and new <= _numbers_in((text_at(source, line),))]
    if len(with_all) == 1:
        return with_all[0]
    like = {line: 0.0 if flow.at(line).is_plain else _likeness(text_at(source, line), made, gone) for line in own}
    best = max(own, key=like.__getitem__, default=0)
    first = next(iter(own), place.line)
    if best and like[best] >= SOMEWHAT_LIKE and like[best] - like.get(first, 0.0) >= MORE:
        return best
    words, begin = _words_in(made) - _words_in(gone), flow.begin_of(place.shows or first)
    with_one = [line for line in own if words & _words_in((text_at(source, line),)) and not flow.at(line).is_plain]
    if len(with_one) == 1 and flow.begin_of(with_one[0]) == begin:
        return with_one[0]
    return place.shows if len(own) >= FEW and place.shows in own else first


def with_likest(
    place: Located | None, case: CaseOutcome, source: str, edits: Sequence[tuple[str, str]]
) -> Located | None:
    """Return the place of a named mistake with the line that is like it, which alone is a place, too."""
    check, failure = case.check, case.failure
    if failure is not None and failure.kind == "no-error":
        return place  # it is a check that lacks: what stands in its place tells nothing
    model = check.grading.reference_text if check is not None else ""
    line = (likest(source, model, edits) or led_to(source, model, edits)) if model else 0
    if not line and place is None and model and failure is not None and not failure.line:
        line = nearest(source, model, edits)
    if not line or (line in place.lines if place is not None else failure is not None and failure.line > 0):
        return place
    sentence = _("Most like it is line {line}.").format(line=line)
    if place is None:
        return Located(case, (line,), sentence)
    return replace(place, lines=(*place.lines, line), sentence=f"{place.sentence} {sentence}")


def likest(source: str, model: str, edits: Sequence[tuple[str, str]]) -> int:
    """Return the line of an answer that is like what a mistake writes into the reference, 0 for none or several.

    It has all that is new there, or most of its words: more of them than any other line.
    """
    flow, theirs = flow_of(source), flow_of(model)
    found: dict[int, float] = {}
    for find, instead in edits:
        gone, made = find.splitlines(), instead.splitlines()
        were, are = ({word for one in lines for word in _telling(one)} for lines in (gone, made))
        new, stay = are - were, are & were - NAMES_OF_ALL
        least = LEAST if any(word[0].isalpha() for word in new) else LIKE  # a number alone stands anywhere
        comes, goes = set(made) - set(gone), set(gone) - set(made)
        for at in (s for s in flow.every() if flow.is_own(s.line, theirs) and not (s.begins or s.is_plain)):
            text = text_at(source, at.line)
            like = _likeness(text, comes, goes)
            if not like or (stay and not stay & _telling(text)):
                continue  # of what was there before it has as much, or nothing of what is still there
            if like >= MUCH_LIKE or (new and like >= least and new <= _telling(text)):
                found[at.line] = max(found.get(at.line, 0.0), like)
    best = sorted(found, key=found.__getitem__, reverse=True)
    if not best or (len(best) > 1 and found[best[0]] - found[best[1]] < APART):
        return 0
    return best[0]


def led_to(source: str, model: str, edits: Sequence[tuple[str, str]]) -> int:
    """Return the line of an answer that does what a mistake does on another condition, 0 for none or several."""
    text = model
    for find, instead in edits:
        text = text.replace(find, instead)
    theirs, changed = flow_of(model), flow_of(text)
    new = [at for at in changed.every() if not at.begins and at.text not in theirs.texts]
    heads = {at.line for at in new if at.is_head}
    if not heads or len(heads) < len(new):
        return 0
    bodies = [text_at(text, at.line) for at in changed.every() if at.heads and at.heads[-1] in heads]
    made = [one for one in bodies if not LEAVES.match(one)]
    every = (at.line for at in flow_of(source).every() if not (at.begins or at.is_head))
    found = [line for line in every if any(_alike(text_at(source, line), one) >= MUCH_LIKE for one in made)]
    return found[0] if len(found) == 1 else 0


def nearest(source: str, model: str, edits: Sequence[tuple[str, str]]) -> int:
    """Return the line of an answer that is most like one that a mistake changes, before or behind; 0 for none.

    Where nothing else is known that is where to begin.
    """
    flow, theirs = flow_of(source), flow_of(model)
    texts = [text.splitlines() for edit in edits for text in edit]
    changed = {line for lines in texts for line in lines if sum(line in others for others in texts) == 1}
    own = [at.line for at in flow.every() if flow.is_own(at.line, theirs) and not at.begins]
    like = {line: max((_alike(text_at(source, line), one) for one in changed), default=0.0) for line in own}
    best = sorted(like, key=like.__getitem__, reverse=True)[:2]
    if not best or like[best[0]] <= LIKE or (len(best) > 1 and like[best[0]] - like[best[1]] < APART):
        return 0
    return best[0]


def _numbers_in(lines: Iterable[str]) -> set[float]:
    """Return the numbers that stand in some lines, however they are written, but those that stand everywhere."""
    return {float(word) for line in lines for word in _telling(line) if NUMBER.fullmatch(word)} - NUMBERS_OF_ALL


def _words_in(lines: Iterable[str]) -> set[str]:
    """Return the names that stand in some lines, but those that stand everywhere."""
    return {word for line in lines for word in _telling(line) if word[0].isalpha()} - NAMES_OF_ALL


def text_at(source: str, line: int) -> str:
    """Return the lines of the statement that begins at a line as one; of a statement with others inside its head."""
    end = statements_of(source).end(line)
    return " ".join(text.partition("#")[0].strip() for text in source.splitlines()[line - 1 : end])


def _likeness(text: str, made: set[str], gone: set[str]) -> float:
    """Return how like a line is what a mistake writes; 0 where it is as like what was there before."""
    like = max((_alike(text, one) for one in made), default=0.0)
    return like if like > max((_alike(text, one) for one in gone), default=0.0) else 0.0


def _alike(one: str, two: str) -> float:
    """Return how many of the words of two lines are in both."""
    first, second = (set(WORD.findall(_in_one_way(text.partition("#")[0]))) for text in (one, two))
    return len(first & second) / (len(first | second) or 1)


def _telling(text: str) -> set[str]:
    """Return the words of a line that tell something."""
    return set(TELLS.findall(_in_one_way(text)))


def _in_one_way(text: str) -> str:
    """Return a line with what is written in several ways in one of them."""
    for pattern, instead in SAME:
        text = pattern.sub(instead, text)
    return text
