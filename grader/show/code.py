"""Code in colours that read on dark and on light backgrounds: the terminal's own, none of the bright ones."""

from __future__ import annotations

from typing import Final

from rich.style import Style
from rich.syntax import ANSISyntaxTheme, Syntax

THEME: Final = ANSISyntaxTheme(
    {
        ("Comment",): Style(dim=True),
        ("Keyword",): Style(color="magenta"),
        ("Operator", "Word"): Style(color="magenta"),
        ("Literal", "String"): Style(color="green"),
        ("Name", "Function"): Style(bold=True),
        ("Name", "Class"): Style(bold=True),
        ("Generic", "Inserted"): Style(color="green"),
        ("Generic", "Deleted"): Style(color="red"),
    }
)


def coloured(code: str, language: str) -> Syntax:
    """Return code for a terminal; long lines are wrapped."""
    return Syntax(code, language, theme=THEME, word_wrap=True)
