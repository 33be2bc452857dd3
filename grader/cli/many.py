"""Many answers at once: a workspace, a class, a model's samples."""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader import catalog
from grader.cli.attempt import EXIT_CODES, finished, graded, keep, record
from grader.cli.base import App, Target
from grader.cli.duplicates import Answer, Duplicates, grouped, told_of
from grader.cli.formatting import Form
from grader.cli.place import answered_by, is_same
from grader.client.broken import error_report, refused, unreadable
from grader.errors import GraderFailed, NotUtf8, UsageError
from grader.language import _
from grader.text import shown
from grader.transport.request import fresh_seed
from grader.workspace import read_answer

if TYPE_CHECKING:
    from grader.client import session

Report = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Options:
    """How all of them are graded."""

    case: str
    device: str
    seed: int | None
    jobs: int | None
    as_json: bool
    form: Form


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an answer; the code is the one that `kata grade` would have ended with for it alone."""

    answer: Answer
    source: str | bytes
    report: Report
    code: int


def begun(app: App) -> list[Answer]:
    """Return the answers in the workspace, in the order of the course. Raises UsageError where there is none."""
    paths = [(app.workspace.path(kata_id), Target(kata_id, debug=False)) for kata_id in catalog.katas()]
    found = [Answer(path, target, own=True) for path, target in paths if path.exists()]
    if not found:
        folder = shown(app.workspace.folder)
        raise UsageError(
            _("There is no answer in {folder} yet.").format(folder=folder), _("`kata start KATA` begins one.")
        )
    return found


def given(app: App, files: Sequence[Path], target_of: Callable[[Path], Target | None]) -> list[Answer]:
    """Return the answers in these files and folders. Raises UsageError where nobody says what a file answers."""
    answers = []
    for path in [found for file in files for found in _files(file)]:
        target = target_of(path)
        if target is None:
            read_answer(path)  # where it is not there, that is what is wrong
            raise UsageError(
                _("The name of {path} is not that of a kata.").format(path=shown(path)),
                _("`kata grade KATA --file ...` says what all of them answer."),
            )
        answers.append(Answer(path, target, own=is_same(path, app.any_workspace.path(target.name))))
    return answers


def grade_many(app: App, answers: Sequence[Answer], options: Options) -> int:
    """Grade all of them, show each as soon as it is done or all in the end, and return the highest of their codes."""
    texts = grouped(answers)
    _keep_first(app, texts)
    from grader.client import session  # noqa: PLC0415 - after the errors that cost nothing

    jobs = min(options.jobs or cores(), len(texts))
    options = replace(options, seed=fresh_seed() if options.seed is None else options.seed)
    with session.open() as grader:
        from grader.pool import as_completed  # noqa: PLC0415 - while torch is loading
        from grader.show.many import Bar, Row, summary  # noqa: PLC0415 - likewise

        places = {id(answer): number for number, answer in enumerate(answers)}
        rows = dict[int, Row]()
        formed: dict[int, tuple[Report, str]] = {}
        mistakes: Counter[str] = Counter()
        code = 0
        results = as_completed(
            texts, lambda copies: _outcomes(app, grader, copies, options), jobs=jobs, stop=grader.cancel
        )
        try:
            with closing(results), nullcontext() if options.as_json else Bar(len(answers)) as bar:
                for outcome in (_settled(app, found, options) for _number, group in results for found in group):
                    code = max(code, outcome.code)
                    if options.as_json:
                        _print(outcome.report)
                        continue
                    if options.form.name:
                        source = outcome.source if isinstance(outcome.source, str) else ""
                        formed[places[id(outcome.answer)]] = outcome.report, source
                    rows[places[id(outcome.answer)]] = Row.of(outcome.report)
                    mistakes.update(mistake["title"] for mistake in outcome.report["mistakes"][:1])
                    if bar:
                        bar.advance(outcome.report)
        finally:
            # Ctrl-C, too: what is done is done.
            if options.form.name:
                options.form.write([formed[number] for number in sorted(formed)])
            elif not options.as_json:
                summary([rows[number] for number in sorted(rows)], len(answers), mistakes)
    return code


def _outcomes(app: App, grader: "session.Session", copies: Duplicates, options: Options) -> list[Outcome]:
    """Grade one text, in a thread of the pool; nothing but a Cancelled is raised."""
    from grader.client import session  # noqa: PLC0415 - it is there long since

    target = copies.first.target
    request = session.Request(
        kata=target.kata,
        source="" if isinstance(copies.source, bytes) else copies.source,
        filename=shown(copies.first.path),
        seed=options.seed,
        case=options.case,
        device=options.device,
        lang=app.lang,
    )
    try:
        if copies.unread:
            raise copies.unread
        report = graded(grader, request, many=True)
        code = EXIT_CODES[report["verdict"]]
    except NotUtf8 as error:
        report, code = unreadable(request, error), EXIT_CODES["failed"]
    except UsageError as error:
        report, code = refused(request, error), error.exit_code
    except GraderFailed as error:
        report, code = error_report(request, error), EXIT_CODES["error"]
    others = [Outcome(one, copies.source, told_of(report, shown(one.path)), code) for one in copies.answers[1:]]
    return [Outcome(copies.first, copies.source, report, code), *others]


def _settled(app: App, found: Outcome, options: Options) -> Outcome:
    """Record the learner's own attempts; a stranger's file is none of theirs."""
    answer, whole = found.answer, not options.case
    report, _planted = finished(app, answer.target, found.report, whole=whole)
    if answer.own and found.code != UsageError.exit_code:
        record(app, answer.target.name, found.source, report, whole=whole)
    return Outcome(answer, found.source, report, found.code)


def _keep_first(app: App, texts: Sequence[Duplicates]) -> None:
    """Keep the learner's own versions before any is graded, and remember whose workspace it is."""
    own = [(answer, copies.source) for copies in texts for answer in copies.answers if answer.own and copies.is_source]
    for answer, source in own:
        keep(app, answer.target.name, source)
    if own:
        app.remember_workspace()


def _files(path: Path) -> Iterator[Path]:
    """Yield a file itself, or the Python files in a folder and below: none that is no answer."""
    if not path.is_dir():
        yield path
        return
    found = []
    for folder, below, names in os.walk(path):
        below[:] = [name for name in below if not name.startswith((".", "__"))]
        found += [Path(folder, name) for name in names if name.endswith(".py") and not _is_no_answer(name)]
    if not found:
        raise UsageError(_("There is no Python file in {folder}.").format(folder=shown(path)))
    yield from sorted(found)


def _is_no_answer(name: str) -> bool:
    """Tell whether a file is hidden, Python's own, or a script of `kata repro`."""
    script = name.removeprefix("repro_")
    return name.startswith((".", "__")) or (script != name and answered_by(Path(script)) is not None)


def cores() -> int:
    """Return how many processors are ours."""
    # A container or `taskset` may leave us fewer than the machine has.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _print(report: Report) -> None:
    click.echo(json.dumps(report))
    sys.stdout.flush()
