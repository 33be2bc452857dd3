"""Help pages and usage errors in the reader's language, click's own words among them."""

import copy
import gettext
import inspect
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import click

from grader.cli.streams import encoding_without
from grader.language import CATALOGUES, DOMAIN, _, from_locale, marked, recognised, use
from grader.text import cells, lines

SIMPLIFIED = "题这对错"
"""Characters that an encoding for Chinese has, and one for traditional Chinese has not."""
FOR_MEANINGS = 27
"""So many columns hold the longest word beside an option, the range of a seed."""


def speak(arguments: Sequence[str]) -> str:
    """Choose the language before anything is parsed, so that what cannot be parsed is told in it.

    Returns what to say where it is not the one that was asked for: its characters cannot be written here.
    """
    asked = (_value_of("--lang", arguments), os.environ.get("KATA_LANG", ""))
    lang = next(filter(None, map(recognised, asked)), from_locale())
    # JSON has an escape for every character.
    encoding = encoding_without(SIMPLIFIED) if lang == "zh" and "--json" not in arguments else ""
    lang = "en" if encoding else lang
    use(lang)
    unshown = ""
    if encoding:
        sentence = _(
            "{encoding} has no simplified Chinese, so kata speaks English; PYTHONIOENCODING=utf-8 changes that."
        )
        unshown = sentence.format(encoding=encoding)
    if lang == "en":
        gettext.textdomain("messages")
        return unshown
    # click asks gettext for its sentences; ours come from the catalogue that has them as well.
    gettext.bindtextdomain(DOMAIN, CATALOGUES)
    gettext.textdomain(DOMAIN)
    os.environ["LANGUAGE"] = lang
    return ""


def _value_of(option: str, arguments: Sequence[str]) -> str:
    for word, following in pairwise((*arguments, "")):
        if word == option:
            return following
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return ""


class Formatter(click.HelpFormatter):
    """click's pages, with lines that fit where characters are two columns wide."""

    def write_heading(self, heading: str) -> None:
        """Write what stands above a list."""
        self.write(" " * self.current_indent + _("{heading}:").format(heading=heading) + "\n")

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        super().write_text(_broken(text, self.width - self.current_indent))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write terms and what they mean; long terms make room for that where the page is narrow."""
        rows = list(rows)
        col_max = min(col_max, self.width - FOR_MEANINGS - col_spacing - 2)
        first = min(max((len(term) for term, _meaning in rows), default=0), col_max) + col_spacing
        width = max(self.width - first - 2, 10)
        super().write_dl([(term, _broken(meaning, width)) for term, meaning in rows], col_max, col_spacing)


class Context(click.Context):
    """A context whose pages know wide characters."""

    formatter_class = Formatter


class Spoken(click.Command):
    """A command whose help is written in English and shown in the reader's language."""

    context_class = Context

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the arguments; what is wrong with them is told in lines of the terminal's width."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            raise in_lines(error) from error

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters; click puts the name of a range into its sentences, and does not translate it."""
        params = super().get_params(ctx)
        for one in params:
            if isinstance(one.type, click.IntRange):
                one.type.name = _("integer")
        return params

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the line that stands beside its name."""
        return _(self.short_help) if self.short_help else super().get_short_help_str(limit)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option --help, which click translates for good when it makes it."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = marked("Show this message and exit.")
        return option

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does."""
        spoken = copy.copy(self)
        spoken.help = _(inspect.cleandoc(self.help or ""))
        click.Command.format_help_text(spoken, ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        records = []
        for option in self.get_params(ctx):
            if isinstance(option, click.Option):
                spoken = copy.copy(option)
                spoken.help = _(spoken.help or "")
                records.append(spoken.get_help_record(ctx))
        with formatter.section(_("Options")):
            formatter.write_dl([record for record in records if record])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        spoken = copy.copy(self)
        spoken.epilog = "\n".join(map(_, (self.epilog or "").split("\n")))
        click.Command.format_epilog(spoken, ctx, formatter)


class SpokenGroup(Spoken, click.Group):
    """A group of such commands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help where nothing is asked for."""
        asked = args or ctx.resilient_parsing or self.invoke_without_command
        return super().parse_args(ctx, args if asked else ctx.help_option_names[:1])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options and the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


def in_lines(error: click.UsageError) -> click.UsageError:
    """Return an error whose sentence is broken at words: click leaves that to the terminal, which breaks anywhere."""
    head = _("Error: {sentence}").format(sentence="")
    text = "\n".join(lines(head + error.format_message(), shutil.get_terminal_size().columns))
    return click.UsageError(text.removeprefix(head), error.ctx)


def one_of(words: Iterable[str]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return what completes one of these words in the shell."""
    return lambda _context, _parameter, incomplete: [word for word in words if word.startswith(incomplete)]


def _broken(text: str, width: int) -> str:
    """Break the paragraphs of a text with wide characters into lines; others are left to click."""
    if cells(text) == len(text):
        return text
    paragraphs = text.split("\n\n")
    return "\n\n".join(part if part.startswith("\b") else "\n".join(["\b", *lines(part, width)]) for part in paragraphs)
