"""What all commands share: the learner's folder and history, and how an error meets a terminal."""

import errno
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from grader import catalog
from grader.cli import place
from grader.cli.help import Spoken, SpokenGroup, in_lines, speak
from grader.cli.streams import make_streams_safe
from grader.errors import KataError, NoCurrentKata, NoSuchFile, NotInWorkspace, StateError, UnknownKata, UsageError
from grader.history import History, Summary, data_folder
from grader.language import LANGUAGES, _, marked, together
from grader.text import clean, shown
from grader.workspace import Workspace, read_answer

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Target:
    """What a command is about: the answer to a kata, its debug rounds, or what else stands beside it."""

    kata: str
    debug: bool
    kind: str = ""
    """One of `catalog.KINDS` besides debug rounds; empty for an answer."""

    @classmethod
    def of(cls, name: str, *, debug: bool = False) -> "Target":
        """Return what a name in workspace and history stands for."""
        kind = catalog.kind_of(name)
        debug = debug or catalog.is_debug_round(name)
        return cls(catalog.kata_of(name), debug, "" if debug else kind)

    @property
    def name(self) -> str:
        """Its name in workspace and history."""
        return catalog.debug_round(self.kata) if self.debug else catalog.beside(self.kata, self.kind)

    @property
    def typed(self) -> str:
        """What names it on the command line."""
        return catalog.typed(self.name)


class App:
    """One run of the tool: folder, language and history."""

    def __init__(self, folder: Path | None, lang: str) -> None:
        """``folder`` is the workspace that was asked for, None for the one that is found."""
        self._asked = folder
        self.lang = lang
        self.voice: Callable[[str], None] = _to_standard_error
        self._told: set[str] = set()

    @cached_property
    def workspace(self) -> Workspace:
        """The learner's files; where a person could expect others, it is said whose they are."""
        if self._place.said:
            self.voice(self._place.said)
        return self.any_workspace

    @cached_property
    def any_workspace(self) -> Workspace:
        """The same without a word, for what shows where it is or only looks at times."""
        return Workspace(self._place.folder)

    @cached_property
    def _place(self) -> place.Place:
        return place.found(self._asked, lambda: self.ask(History.last_workspace, None, ""))

    @cached_property
    def history(self) -> History:
        """The history, opened when it is first needed. Raises StateError."""
        return History(data_folder(), self.warn)

    def close(self) -> None:
        """Close what was opened."""
        if "history" in self.__dict__:
            self.history.close()

    def ask(self, question: Callable[[History], T], otherwise: T, consequence: str) -> T:
        """Ask the history, or tell it something; where it cannot be used, warn of the consequence and go on."""
        try:
            return question(self.history)
        except StateError as error:
            self._warn_of(error, consequence)
            return otherwise

    def usable_history(self, consequence: str) -> History | None:
        """Return the history, or None, with a warning of the consequence, where it cannot be used."""
        try:
            return self.history
        except StateError as error:
            self._warn_of(error, consequence)
            return None

    def done(self, consequence: str = "") -> dict[str, Summary]:
        """Return what was done with each kata; nothing, with a warning, where the history cannot be used."""
        return self.ask(History.summaries, dict[str, Summary](), consequence)

    def beginning(self, kata: catalog.Kata) -> str:
        """Return the file in which an answer begins: the stub, behind the passed answer that the kata continues."""
        return self._beginning(kata, self.lang)

    def beginnings(self, kata: catalog.Kata) -> list[str]:
        """Return that file in every language: the reader may have begun it in another one."""
        return [self._beginning(kata, lang) for lang in LANGUAGES]

    def _beginning(self, kata: catalog.Kata, lang: str) -> str:
        from grader.versions import beginning  # noqa: PLC0415 - few commands begin a file

        if not kata.continues:
            return kata.stub(lang)
        consequence = _("{kata} begins without your answer to {other}.")
        consequence = consequence.format(kata=kata.id, other=kata.continues)
        return self.ask(lambda history: beginning(kata, history, lang), kata.stub(lang), consequence)

    def kata_id(self, name: str | None) -> str:
        """Return the id of the kata named, or of the current one. Raises UnknownKata, NoCurrentKata, NoSuchFile."""
        called = name or self.ask(History.current, None, "") or ""
        if not (name := catalog.kata_of(called)):
            raise NoCurrentKata
        try:
            return name if catalog.exists(name) else catalog.find(name).id
        except UnknownKata as error:
            if called.lower().endswith(".py"):
                hint = (error if error.suggestions else NoCurrentKata()).hint
                raise NoSuchFile(Path(shown(Path(called))), hint) from error
            raise

    def kata(self, name: str | None) -> catalog.Kata:
        """Return the kata that was named, or the current one."""
        return catalog.find(self.kata_id(name))

    def target(self, name: str | None, *, debug: bool) -> "Target":
        """Return what a command is about: what was named, by id or by its file, or what was worked on last.

        Raises UnknownKata, NoCurrentKata, and NotInWorkspace for a file elsewhere.
        """
        if name and place.is_path(name) and (answered := self._answered_by(Path(name))):
            return Target.of(answered, debug=debug)
        current = self.ask(History.current, None, "") if name is None or not debug else None
        if name or debug:
            kata_id = self.kata_id(name)
            # While its review is what one works at, the name of a kata stands for that.
            review = catalog.review(kata_id)
            if not debug and current == review and self.ask(lambda history: history.under_way(review), False, ""):
                return Target.of(review)
            return Target(kata_id, debug)
        kata_id = self.kata_id(current)
        since = self.ask(History.current_since, None, "")
        saved = [(self.any_workspace.changed(one), one) for one in self._beside(kata_id, str(current))]
        later = [(at, one) for at, one in saved if at and since and at > since]
        return Target.of(max(later)[1] if later else catalog.beside(kata_id, catalog.kind_of(str(current))))

    def _beside(self, kata_id: str, current: str) -> list[str]:
        """Return the names of what one may have gone on with since."""
        return sorted({kata_id, catalog.debug_round(kata_id), current})

    def touched(self, name: str | None, *, debug: bool) -> "Target":
        """Return what a command is about; where it was named, later commands without a name are about it, too."""
        target = self.target(name, debug=debug)
        self.touch(target, named=bool(name or debug))
        return target

    def touch(self, target: "Target", *, named: bool) -> None:
        """Make what was named the current one; what was not named is it already."""
        if named:
            kata_id = catalog.find(target.kata).id
            self.ask(
                lambda history: history.make_current(target.name),
                None,
                _("{kata} could not be made the current kata; name it in each command.").format(kata=kata_id),
            )

    def remember_workspace(self) -> None:
        """Let commands in other folders find this workspace."""
        folder = self.any_workspace.folder
        if folder.is_dir():
            self.ask(
                lambda history: history.use_workspace(str(folder.absolute())),
                None,
                _("In other folders this workspace will not be found."),
            )

    def _answered_by(self, path: Path) -> str | None:
        """Return the name of what a file of the learner's answers, None where its name says nothing.

        Raises NotInWorkspace for the file of somebody else.
        """
        answered = place.answered_by(path)
        own = self.any_workspace.folder
        if answered and not place.is_own(path, own) and (len(path.parts) > 1 or path.exists()):
            raise NotInWorkspace(Path(shown(path)), Path(shown(own)))
        return answered

    def answer(self, name: str, path: Path | None = None) -> str:
        """Return the text of the learner's file for a kata or its debug round, or of another file."""
        own = self.workspace.path(name)
        try:
            return read_answer(path or own)
        except NoSuchFile as error:
            if path:
                raise
            begins = _("`kata start {name}` begins it.").format(name=catalog.typed(name))
            raise NoSuchFile(own, begins) from error

    def warn(self, sentence: str) -> None:
        """Say something that does not end the command."""
        self.voice(_("Warning: {sentence}").format(sentence=clean(sentence)))

    def heard(self, error: StateError) -> None:
        """Take it that the learner is told of this error: it is not said again."""
        self._told.add(error.message)

    def _warn_of(self, error: StateError, consequence: str) -> None:
        known = error.message in self._told
        self._told.add(error.message)
        if said := together(consequence, *(() if known else (error.message, error.hint))):
            self.warn(said)


def _to_standard_error(sentence: str) -> None:
    click.echo(sentence, err=True)


class KataGroup(SpokenGroup):
    """A group that imports a command when it is called and lists its commands in the order of use."""

    def __init__(self, *args: Any, modules: dict[str, str], first_round: dict[str, str], **kwargs: Any) -> None:
        """``modules``: where each command is; ``first_round``: what to type first, and why."""
        super().__init__(*args, **kwargs)
        self.modules, self.first_round = modules, first_round

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what to type first."""
        del ctx
        with formatter.section(_("A first round")):
            formatter.write_dl([(command, _(reason)) for command, reason in self.first_round.items()])

    def list_commands(self, _context: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.modules)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Import one command."""
        if name not in self.modules:
            return None
        command: click.Command = getattr(import_module(f"grader.cli.{self.modules[name]}"), f"{name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest a command for one that does not exist."""
        name = args[0]
        if name not in self.modules and not name.startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches  # noqa: PLC0415 - only for a name that was mistyped

            sentence = _("There is no command '{name}'.").format(name=clean(name, 80))
            is_file = name.endswith(".py")
            if close := [f"grade {clean(name, 80)}"] if is_file else get_close_matches(name, self.modules, n=2):
                question = _("Did you mean {names}?").format(names=_(" or ").join(close))
                sentence = _("{sentence} {question}").format(sentence=sentence, question=question)
            raise in_lines(click.UsageError(sentence, ctx))
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, *others: Any, **kwargs: Any) -> Any:
        """Make the streams safe and choose the language before anything, a help page too, is written."""
        make_streams_safe()
        unshown = speak(sys.argv[1:] if args is None else list(args))
        if unshown and "_KATA_COMPLETE" not in os.environ:
            _to_standard_error(unshown)
        return super().main(args, *others, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C ends it with a sentence, not a traceback."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo(_("Stopped. Your files are as they were."), err=True)
            ctx.exit(INTERRUPTED)


class KataCommand(Spoken):
    """A command whose errors are sentences."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn every error into a sentence with its exit code."""
        try:
            return super().invoke(ctx)
        except KataError as error:
            raise Shown(error, ctx) from error
        except click.UsageError as error:
            raise in_lines(error) from error
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise
            raise Shown(crash(error), ctx) from error


class Shown(click.ClickException):
    """A KataError as click shows it."""

    def __init__(self, error: KataError, context: click.Context) -> None:
        super().__init__(error.message)
        self.error = error
        self.context = context

    @property
    def exit_code(self) -> int:  # type: ignore[override]  # click has one for each class, we for each error
        """The exit code of the error."""
        return self.error.exit_code

    def show(self, file: IO[str] | None = None) -> None:
        """Write the sentence, the next step and, for wrong use, where to find help."""
        from grader.show.console import console, say  # noqa: PLC0415 - only when something is wrong

        target = console(stderr=True)
        if file is not None:
            target.file = file
        say(target, _("Error: {sentence}").format(sentence=clean(self.error.message)))
        if self.error.hint:
            say(target, clean(self.error.hint))
        if isinstance(self.error, UsageError):
            say(target, _("Try '{command} --help' for help.").format(command=self.context.command_path))


def crash(error: Exception) -> KataError:
    """Write down where the tool itself broke, and return what to tell the learner."""
    import traceback  # noqa: PLC0415 - only when everything else is over

    if os.environ.get("KATA_DEBUG"):
        traceback.print_exception(error)
    sentence = _("kata itself failed ({kind}: {text}). This is a bug, and not yours.")
    sentence = sentence.format(kind=type(error).__name__, text=clean(str(error), 300))
    try:
        path = data_folder() / f"crash-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(traceback.format_exception(error)), encoding="utf-8", errors="backslashreplace")
    except (OSError, StateError):
        return KataError(sentence, _("KATA_DEBUG=1 shows where."))
    return KataError(sentence, _("The details are in {path}.").format(path=shown(path)))


def commands(*lines: str) -> tuple[str, ...]:
    """Return commands as a person types them, in every language."""
    return lines


def examples(*lines: str) -> str:
    """Return the end of a help page."""
    head = marked("Example:") if len(lines) == 1 else marked("Examples:")
    return "\n".join(["\b", head, *(f"  {line}" for line in lines)])


def kata_names(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> "list[str] | list[CompletionItem]":
    """Complete the name of a kata in the shell, or the path of its file."""
    if os.sep in incomplete:
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - only a shell asks

        return [CompletionItem(incomplete, type="file")]
    try:
        return [kata_id for kata_id in catalog.katas() if kata_id.startswith(incomplete)]
    except KataError:
        return []
