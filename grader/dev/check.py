"""Holding katas to the rules, and keeping the score: what is rejected that must be, what is accepted that must be."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from grader.catalog import FAMILIES, TRACKS, Kata
from grader.client.session import Request, Session
from grader.dev import ONE_AT_A_TIME, files, new
from grader.dev.answers import Known, known_answers
from grader.judge.failure import NOTHING_WRITTEN

SEEDS: Final = 20
WORDS: Final = {
    "en": {
        "katas": ("track", "katas"),
        "score": ("kata", "wrong answers rejected", "correct answers accepted", "mistakes named first"),
        "all": "all",
    },
    "zh": {
        "katas": ("单元", "题目"),
        "score": ("题目", "拒绝的错误答案", "接受的正确答案", "首先说中的错误"),
        "all": "合计",
    },
}
"""What stands in the tables besides names and numbers."""

Report = dict[str, Any]


@dataclass
class Score:
    """How many of the known answers to a kata were judged as they must be."""

    kata: str
    rejected: dict[str, list[int]] = field(default_factory=dict)
    accepted: list[int] = field(default_factory=lambda: [0, 0])
    named: list[int] = field(default_factory=lambda: [0, 0])
    problems: list[str] = field(default_factory=list)

    def count(self, known: Known, right: bool) -> None:
        """Take the outcome of one answer."""
        if known.kind == "stub":
            return
        counts = self.accepted if known.accepted else self.rejected.setdefault(known.family, [0, 0])
        counts[0] += right
        counts[1] += 1

    @property
    def is_graded(self) -> bool:
        """Whether there was an answer to grade: none is while something is left to do."""
        return any(self.all_rejected) or any(self.accepted)

    @property
    def all_rejected(self) -> tuple[int, int]:
        """Wrong answers rejected, and all of them."""
        return sum(c[0] for c in self.rejected.values()), sum(c[1] for c in self.rejected.values())


def _nobody_asks(step: str) -> None:
    """Take a step that nobody wants to see."""
    del step


def check(
    kata: Kata,
    session: Session,
    seeds: Iterable[int] = range(SEEDS),
    on_step: Callable[[str], None] = _nobody_asks,
    each: Collection[str] = (),
) -> Score:
    """Hold a kata to every rule. The problems of the score say what breaks one.

    References are graded with each of the seeds, the other known answers with one that is drawn. Where kinds are named
    in ``each``, answers of these kinds alone are graded, with each of the seeds.
    """
    from grader.dev import byhand, shapes  # noqa: PLC0415 - they import torch

    score = Score(kata.id)
    on_step("files")
    score.problems += new.left_to_do(kata)
    if score.problems:
        return score
    with ONE_AT_A_TIME:
        score.problems += [*files.problems(kata), *byhand.problems(kata), *shapes.problems(kata)]
    grade(kata, session, seeds, on_step, each, score)
    return score


def grade(
    kata: Kata,
    session: Session,
    seeds: Iterable[int],
    on_step: Callable[[str], None],
    each: Collection[str],
    score: Score,
) -> None:
    """Grade the known answers of a kata, as ``check`` says, and take the outcomes."""
    often_graded = each or ("reference",)
    with ONE_AT_A_TIME:
        known = list(known_answers(kata))
    once: list[tuple[Known, int | None]] = [(one, None) for one in known if not each and one.kind not in often_graded]
    often = [(one, seed) for seed in seeds for one in known if one.kind in often_graded]
    for one, seed in (*once, *often):
        on_step(f"{one.kind} {one.name}" if seed is None else f"{one.kind} {one.name}, seed {seed}")
        _grade(one, kata, session, seed, score)


def _grade(known: Known, kata: Kata, session: Session, seed: int | None, score: Score) -> None:
    """Grade an answer and take the outcome; the family that must reject it has to do so alone."""
    case = f"{known.family}/" if known.family else ""
    request = Request(kata.id, known.source, kata.filename, seed=seed, case=case)
    report = session.grade(request, many=known.kind != "reference")
    problem = _problem(known, kata, report)
    score.count(known, not problem)
    if problem:
        score.problems.append(f"{known.kind} {known.name} (seed {report['seed']}): {problem}")
    if known.kind == "mistake":
        score.named[0] += [mistake["id"] for mistake in report["mistakes"]][:1] == [known.mistake]
        score.named[1] += 1


def _problem(known: Known, kata: Kata, report: Report) -> str:
    """Return what is wrong about a report, given what is known of the answer; empty for nothing."""
    failing = [case for case in report["cases"] if case["outcome"] not in ("passed", "skipped")]
    if known.accepted:
        if report["verdict"] != "passed":
            return f"not accepted: {report['message'] or failing[0]['id'] + ': ' + failing[0]['message']}"
        if known.kind == "reference" and list(report["families"]) != [f for f in FAMILIES if f in kata.families]:
            return f"runs the families {', '.join(report['families'])}, kata.toml lists {', '.join(kata.families)}"
        return "carries a diagnosis" if report["mistakes"] else ""
    if report["verdict"] != "failed":
        return f"not rejected: {report['verdict']} {report['message']}".strip()
    if known.kind == "stub":
        return "" if report["message"] == NOTHING_WRITTEN else f"fails with {report['message']!r}"
    if known.family not in {case["family"] for case in failing}:
        return f"rejected, but by no case of the family {known.family}"
    if known.kind == "mistake" and known.mistake not in [mistake["id"] for mistake in report["mistakes"]]:
        return "rejected, but not named"
    return ""


def course(katas: Iterable[Kata], lang: str = "en") -> str:
    """Return the katas by track as a Markdown table."""
    tracks: dict[int, list[str]] = {}
    for kata in sorted(katas, key=lambda kata: (kata.track, kata.order)):
        tracks.setdefault(kata.track, []).append(f"`{kata.id}`")
    lines = [f"| {number} · {TRACKS[number][lang]} | {' '.join(names)} |" for number, names in tracks.items()]
    return "\n".join([f"| {' | '.join(WORDS[lang]['katas'])} |", "|---|---|", *lines])


def table(scores: Iterable[Score], lang: str = "en") -> str:
    """Return the score as a Markdown table."""
    scores = list(scores)
    first, rejected, *others = WORDS[lang]["score"]
    lines = [
        f"| {' | '.join([first, rejected, *FAMILIES, *others])} |",
        f"|---|---|{'---|' * len(FAMILIES)}---|---|",
    ]
    for score in scores:
        families = [_ratio(score.rejected[f]) if f in score.rejected else "" for f in FAMILIES]
        cells = [f"`{score.kata}`", _ratio(score.all_rejected), *families, _ratio(score.accepted), _ratio(score.named)]
        lines.append(f"| {' | '.join(cells)} |")
    if len(scores) > 1:
        families = [_ratio(_sum(s.rejected[f] for s in scores if f in s.rejected)) for f in FAMILIES]
        totals = [_sum(s.all_rejected for s in scores), _sum(s.accepted for s in scores), _sum(s.named for s in scores)]
        cells = [f"**{WORDS[lang]['all']}**", _ratio(totals[0]), *families, _ratio(totals[1]), _ratio(totals[2])]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _ratio(counts: Iterable[int]) -> str:
    done, total = counts
    return f"{done}/{total}"


def _sum(pairs: Iterable[Iterable[int]]) -> tuple[int, int]:
    done, total = 0, 0
    for first, second in pairs:
        done, total = done + first, total + second
    return done, total
