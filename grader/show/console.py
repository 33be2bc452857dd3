"""Where the tool's output goes: a terminal of any width, a pipe, a log, with or without colour."""

from typing import Literal

from rich.console import Console
from rich.text import Text

from grader.language import _
from grader.text import clean


def console(*, stderr: bool = False, plain: bool = False) -> Console:
    """Return a console that takes text as it is: no markup, no emoji codes, no guessed highlights.

    A ``plain`` one has no colours either.
    """
    colours: Literal["auto"] | None = None if plain else "auto"
    return Console(stderr=stderr, color_system=colours, highlight=False, markup=False, emoji=False)


def markdown(target: Console, text: str) -> None:
    """Show Markdown: rendered on a terminal, as it was written in a pipe."""
    if not target.is_terminal:
        target.out(text.rstrip(), highlight=False)
        return
    from grader.show.markdown import print_page  # noqa: PLC0415 - its parser and highlighter take long to import

    print_page(target, text)


def python(target: Console, text: str) -> None:
    """Show Python source: in colour on a terminal, as it was written in a pipe."""
    if not target.is_terminal:
        target.out(text.rstrip(), highlight=False)
        return
    from rich.syntax import Syntax  # noqa: PLC0415 - as above

    target.print(Syntax(text.rstrip(), "python", theme="ansi_dark", background_color="default", word_wrap=True))


def say(target: Console, sentence: str | Text) -> None:
    """Show a sentence; in a pipe it stays on one line, so that a path in it stays whole."""
    target.print(sentence, soft_wrap=not target.is_terminal)


def next_step(target: Console, sentence: str) -> None:
    """End a page with what to do next."""
    say(target, Text.assemble(("→ ", "bold"), sentence))


def difference(target: Console, before: str, after: str, names: tuple[str, str]) -> None:
    """Show what has to change from one source to another, as a unified diff."""
    from difflib import unified_diff  # noqa: PLC0415 - only for --diff

    lines = list(unified_diff(before.splitlines(), after.splitlines(), *names, lineterm=""))
    if not lines:
        say(target, _("The two files are the same."))
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for line in lines:
        style = "bold" if line.startswith(("+++ ", "--- ")) else styles.get(line[:1], "")
        target.print(Text(clean(line), style=style), soft_wrap=True)
