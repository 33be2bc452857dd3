"""Where the tool's output goes: a terminal of any width, a pipe, a log, with or without colour."""

import shutil
from typing import Final, Literal

from rich.console import Console
from rich.text import Text

from grader.language import _
from grader.text import cells, clean, lines

NARROWEST: Final = 20


def console(*, stderr: bool = False, plain: bool = False) -> Console:
    """Return a console that takes text as it is: no markup, no emoji codes, no guessed highlights.

    A ``plain`` one has no colours either.
    """
    colours: Literal["auto"] | None = None if plain else "auto"
    target = Console(stderr=stderr, color_system=colours, highlight=False, markup=False, emoji=False)
    if target.width < NARROWEST:  # COLUMNS says something that is no width; 0 means that nobody knows it
        target.width = max(NARROWEST, shutil.get_terminal_size().columns)
    return target


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
    from grader.show.code import coloured  # noqa: PLC0415 - as above

    target.print(coloured(text.rstrip(), "python"))


def say(target: Console, sentence: str | Text) -> None:
    """Show a sentence; in a pipe it stays on one line, so that a path in it stays whole."""
    if not target.is_terminal:
        target.print(sentence, soft_wrap=True)
        return
    text = Text(sentence) if isinstance(sentence, str) else sentence
    if cells(text.plain) > len(text.plain):  # between Chinese characters a line may end anywhere
        broken = "\n".join(line for part in text.plain.split("\n") for line in lines(part, target.width))
        # What has a style of its own stands at the beginning, where nothing moves.
        text = Text(broken, style=text.style, spans=text.spans)
    target.print(text)


def heading(target: Console, name: str) -> None:
    """Begin a page with what it is about."""
    say(target, Text(name, style="bold"))


def next_step(target: Console, sentence: str) -> None:
    """End a page with what to do next."""
    say(target, Text.assemble(("→ ", "bold"), sentence))


def difference(target: Console, before: str, after: str, names: tuple[str, str]) -> None:
    """Show what has to change from one source to another, as a unified diff."""
    from difflib import unified_diff  # noqa: PLC0415 - only for --diff

    changes = list(unified_diff(before.splitlines(), after.splitlines(), *names, lineterm=""))
    if not changes:
        say(target, _("The two do the same, word for word."))
    styles = {"+": "green", "-": "red", "@": "magenta"}
    for line in changes:
        style = "bold" if line.startswith(("+++ ", "--- ")) else styles.get(line[:1], "")
        target.print(Text(clean(line), style=style), soft_wrap=True)
