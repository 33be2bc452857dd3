"""Tasks, hints and rules as pages: Markdown whose lines break where Chinese breaks, too, and without backgrounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich import box
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.containers import Lines
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, Paragraph, TableElement
from rich.measure import Measurement
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from grader.pages import joined
from grader.show.code import coloured
from grader.text import breaks, cells, longest_piece

if TYPE_CHECKING:
    from rich.console import OverflowMethod

WIDEST: Final = 100
"""Longer lines are hard to read, however wide the terminal is."""
WHOLE_CODE: Final = 24
"""Code inside a sentence, up to so many columns, stays on one line."""
INDENT: Final = 2
STYLES: Final = Theme(
    {
        "markdown.code": Style(bold=True, meta={"code": True}),
        "markdown.h1": "bold underline",
        "markdown.item.bullet": "bold",
        "markdown.item.number": "bold",
        "markdown.link": "underline",
        "markdown.link_url": "underline",
        "markdown.hr": "dim",
        "markdown.h2": "bold",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
    }
)


def print_page(target: Console, text: str) -> None:
    """Show Markdown on a terminal."""
    with target.use_theme(STYLES):
        target.print(Page(joined(text.strip())), width=min(target.width, WIDEST))


class Broken(Text):
    """Text whose lines break between wide characters, too, and not inside of short code."""

    @classmethod
    def of(cls, text: Text) -> Broken:
        """Return the same text, broken in this way."""
        broken = cls(justify=text.justify)
        broken.append_text(text)
        return broken

    def wrap(
        self,
        console: Console,
        width: int,
        *,
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        tab_size: int = 8,
        no_wrap: bool | None = None,
    ) -> Lines:
        """Break it into lines of at most so many columns."""
        del console, justify, overflow, tab_size, no_wrap
        lines = self.divide(breaks(self._for_breaking(), width, fold=True))
        for line in lines:
            line.rstrip()
        return lines

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Measure the longest piece, and all of it."""
        del console, options
        return Measurement(longest_piece(self._for_breaking()), cells(self.plain))

    def _for_breaking(self) -> str:
        """Return the text with code in one piece, every character in its place."""
        text = self.plain
        for span in self.spans:
            code = text[span.start : span.end]
            if isinstance(span.style, Style) and span.style.meta.get("code") and cells(code) <= WHOLE_CODE:
                text = text[: span.start] + code.replace(" ", "_") + text[span.end :]
        return text


class _Paragraph(Paragraph):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console, options
        yield Broken.of(self.text)


class _Heading(Heading):
    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class _Table(TableElement):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console, options
        table = Table(
            box=box.SIMPLE, show_edge=False, pad_edge=False, style="markdown.table.border", collapse_padding=True
        )
        for cell in self.header.row.cells if self.header and self.header.row else ():
            table.add_column(Broken.of(cell.content), header_style="markdown.table.header")
        for row in self.body.rows if self.body else ():
            table.add_row(*(Broken.of(cell.content) for cell in row.cells))
        yield table


class _Code(CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console
        width = options.max_width - INDENT
        code = str(self.text).rstrip()
        if self.lexer_name == "python":
            code = "\n".join(part for line in code.split("\n") for part in hanging(line, width))
        shown: Any = Text(code, overflow="fold")
        if self.lexer_name != "text":
            shown = coloured(code, self.lexer_name)
        fits = max(map(cells, code.split("\n"))) <= width
        yield Padding(shown, (0, 0, 0, INDENT if fits else 0))


def hanging(line: str, width: int) -> list[str]:
    """Break a line of Python that is too long; what follows is indented, and behind a `#` if it is a comment."""
    if cells(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    offsets = [at for at in breaks(line, width) if at > len(indent)]
    if not offsets:
        return [line]
    first, rest = line[: offsets[0]].rstrip(), line[offsets[0] :].lstrip()
    margin = f"{indent}# " if "#" in first else f"{indent}        "
    return [first, *hanging(margin + rest.removeprefix("# "), width)] if cells(margin) < width // 2 else [line]


class Page(Markdown):
    """A page of Markdown."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = Markdown.elements | {
        "paragraph_open": _Paragraph,
        "heading_open": _Heading,
        "table_open": _Table,
        "fence": _Code,
        "code_block": _Code,
    }
