"""A grading as an attempt of the learner's: kept, graded, recorded, with what comes next."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from grader import catalog
from grader.cli.base import App, Target, crash
from grader.errors import GraderFailed, UsageError, WorkspaceError
from grader.language import _

if TYPE_CHECKING:
    from rich.console import Console

    from grader.client import session
    from grader.debug.plant import Planted
    from grader.show.verdict import Page

EXIT_CODES: Final = {"passed": 0, "failed": 1, "error": 3}


def keep(app: App, name: str, source: str | bytes) -> None:
    """Keep this version of a file before it is graded; a full disk costs a warning, not the verdict."""
    try:
        app.any_workspace.keep(name, source)
    except WorkspaceError as error:
        app.warn(_("This version of the file could not be kept. {reason}").format(reason=error.message))


def graded(
    grader: "session.Session",
    request: "session.Request",
    on_event: Callable[[dict[str, Any]], None] | None = None,
    *,
    many: bool = False,
) -> dict[str, Any]:
    """Return the report. Raises UsageError, Cancelled, and GraderFailed for everything that is our own fault."""
    from grader.client import session  # noqa: PLC0415 - commands that do not grade do without

    try:
        return grader.grade(request, on_event, many=many)
    except (GraderFailed, UsageError):
        raise
    except session.Cancelled:
        raise
    except Exception as error:
        failure = crash(error)
        raise GraderFailed(failure.message, failure.hint) from error


def finished(
    app: App, target: Target, report: dict[str, Any], *, whole: bool
) -> tuple[dict[str, Any], "Planted | None"]:
    """Return the report as its reader gets it, and what was planted in a debug round that it ends."""
    if not target.debug:
        return report, None
    from grader.cli.debugging import judged  # noqa: PLC0415 - only debug rounds need the banks

    return judged(app, target, report, whole=whole)


def page(
    app: App, name: str, report: dict[str, Any], planted: "Planted | None", *, whole: bool, own: bool = True
) -> "Page":
    """Return what draws a verdict, with the next step where it is the learner's ``own`` file."""
    from grader.show import verdict  # noqa: PLC0415
    from grader.show.console import next_step, say  # noqa: PLC0415 - rich is for people

    passed = report["verdict"] == "passed"
    then = what_next(app, name, report, whole=whole) if passed else ""

    @cache
    def took() -> list[str]:
        """Look into the history once: after the verdict, which must not wait for it, and before this pass is in it."""
        if not (passed and own and whole):
            return []
        from grader.cli.afterwards import afterwards  # noqa: PLC0415 - after a pass only

        return afterwards(app, name)

    def draw(screen: "Console", full: bool) -> None:
        verdict.verdict(screen, report, whole=whole, then="", own=own, full=full, typed=catalog.typed(name))
        if planted:
            from grader.show.debugging import reveal  # noqa: PLC0415 - only after a repair

            reveal(screen, planted, app.lang)
        for sentence in took():
            say(screen, sentence)
        if then and own:
            next_step(screen, then)

    return verdict.Page(draw)


def what_next(app: App, name: str, report: dict[str, Any], *, whole: bool) -> str:
    """Return what to do after this pass."""
    if not whole:
        return _("`kata grade {kata}` runs every case.").format(kata=catalog.typed(name))
    if "debug" in report:
        return _("`kata start {kata} --debug` plants other mistakes.").format(kata=report["kata"])
    if catalog.kind_of(name):
        return _("`kata today` shows what is next.")
    done = app.done()
    passed = {kata_id for kata_id, summary in done.items() if summary.passed} | {report["kata"]}
    then = catalog.following(passed, after=report["kata"])
    if then is None:
        return _("That was the last open kata of the course.")
    sentence = _("`kata start {kata}`: {title}, {minutes} min")
    return sentence.format(kata=then.id, title=then.title[app.lang], minutes=then.minutes)


def record(app: App, name: str, source: str | bytes, report: dict[str, Any], *, whole: bool) -> None:
    """Put an attempt into the history under its name; where that cannot be used, say so."""
    app.ask(
        lambda history: history.record(name, source, report, whole=whole),
        None,
        _("This attempt is not in your history."),
    )
