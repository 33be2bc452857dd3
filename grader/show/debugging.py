"""What was planted in a debug round, once it may be seen: name, explanation, and the lines before and after."""

from textwrap import dedent

from rich.console import Console
from rich.text import Text

from grader.debug.plant import Change, Plant, Planted
from grader.language import _, plural
from grader.text import lines

INDENT = 4


def reveal(console: Console, planted: Planted, lang: str) -> None:
    """Show what was planted, from top to bottom."""
    count = len(planted.plants)
    console.print()
    head = plural("The planted mistake:", "The {count} planted mistakes:", count).format(count=count)
    console.print(Text(head, style="bold"))
    for number, plant in enumerate(planted.plants, 1):
        console.print()
        console.print(Text.assemble((f"{number} · ", "bold"), (plant.title[lang], "bold")))
        _show(console, plant, lang)
    console.print()


def _show(console: Console, plant: Plant, lang: str) -> None:
    for line in lines(plant.explain[lang], max(10, console.width - INDENT)):
        console.print(Text(" " * INDENT + line))
    for change in plant.changes:
        console.print(Text(" " * INDENT + _("line {line}").format(line=change.line), style="dim"))
        planted, sound = _aligned(change)
        for mark, style, texts in (("-", "red", planted), ("+", "green", sound)):
            for text in texts:
                console.print(Text(f"{' ' * INDENT}{mark} {text}".rstrip(), style=style), soft_wrap=True)


def _aligned(change: Change) -> tuple[list[str], list[str]]:
    """Return both sides of a change without the margin that they share."""
    both = dedent("\n".join([*change.planted, *change.sound])).split("\n")
    return both[: len(change.planted)], both[len(change.planted) :]
