"""Paragraphs of a page: cleaned, indented, broken where a line of a terminal ends."""

from rich.console import Console
from rich.text import Text

from grader.language import _
from grader.text import cells, clean, lines

INDENT = 4


def paragraph(console: Console, text: str, style: str = "", *, most: int = 0, by: int = INDENT) -> None:
    """Show a text of somebody's; of a long one ``most`` lines."""
    if text:
        indented(console, Text(clean(text), style=style), by, most=most)


def indented(console: Console, text: Text, by: int, *, most: int = 0) -> None:
    """Show a text behind so many spaces; of a long one ``most`` lines."""
    width = max(10, console.width - by)
    if cells(text.plain) > len(text.plain):  # between Chinese characters a line may end anywhere
        text = Text("\n".join(line for part in text.plain.split("\n") for line in lines(part, width)), style=text.style)
    wrapped = list(text.wrap(console, width))
    for number, line in enumerate(wrapped[: most or None], 1):
        line.rstrip()
        if number == most < len(wrapped):
            line.truncate(width - 2)
            line.rstrip()
            line.append(" …")
        console.print(Text(" " * by) + line)


def output(console: Console, head: str, text: str, most: int) -> None:
    """Show what was printed, at most so many lines of it."""
    printed = clean(text).rstrip("\n").splitlines()
    console.print()
    console.print(Text(head))
    for line in printed[:most]:
        indented(console, Text(line, style="dim"), INDENT, most=most)
    if left := len(printed[most:]):
        indented(console, Text(_("… and {count} more lines").format(count=left), style="dim"), INDENT)


def first_line(text: str) -> str:
    """Return the first line of a text, made safe."""
    return clean(text).split("\n", 1)[0]
