"""One text of a model, graded: the lines of all samples that hold it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grader import catalog
from grader.client.broken import error_report, refused, unreadable
from grader.errors import BadAnswerFile, GraderFailed, NotUtf8, UsageError
from grader.evaluation.results import Row, row
from grader.evaluation.samples import Sample
from grader.language import _
from grader.text import clean
from grader.transport.request import Request
from grader.workspace import decoded

Ask = Callable[[Request], dict[str, Any]]
ATTEMPTS: Final = 2


@dataclass(frozen=True, slots=True)
class Options:
    """How samples are graded."""

    seed: int
    trust: bool
    lang: str


def rows(ask: Ask, sample: Sample, options: Options) -> list[Row]:
    """Grade one text and return the lines of all samples that hold it. Raises UsageError for a sandbox with gaps.

    ``ask`` returns the report of a request, and raises GraderFailed for everything that is our own fault.
    """
    report = _report(ask, sample, options)
    first = sample.numbers[0]
    return [row(report, number, sample.digest, None if number == first else first) for number in sample.numbers]


def refuse_gaps(gaps: Sequence[str], options: Options) -> None:
    """Raise UsageError where the sandbox is not complete, unless who wrote the samples is trusted."""
    if gaps and not options.trust:
        sentence = _("The sandbox is not complete on this machine ({gaps}), and samples are code of strangers.")
        raise UsageError(
            sentence.format(gaps=_("; ").join(clean(gap) for gap in gaps)),
            _("`kata doctor` explains; --trust grades them all the same."),
        )


def _report(ask: Ask, sample: Sample, options: Options) -> dict[str, Any]:
    path = Path(catalog.filename(sample.kata))
    request = Request(sample.kata, "", path.name, seed=options.seed, lang=options.lang)
    try:
        text = decoded(path, sample.source)
    except NotUtf8 as error:
        return unreadable(request, error)
    except BadAnswerFile as error:
        return refused(request, error)
    request = Request(sample.kata, text, path.name, seed=options.seed, lang=options.lang)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            report = ask(request)
        except GraderFailed as error:
            if attempt == ATTEMPTS:
                return error_report(request, error)
        else:
            refuse_gaps(report["sandbox_gaps"], options)
            return report
    raise AssertionError
