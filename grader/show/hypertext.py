"""Markdown as HTML for a page in a browser: what is HTML in it is shown as text."""

from __future__ import annotations

from functools import cache

from markdown_it import MarkdownIt

from grader.show.markdown import joined
from grader.text import clean

MOST_TEXT = 200_000


def html(text: str) -> str:
    """Return Markdown as HTML."""
    rendered: str = _parser().render(joined(clean(text, MOST_TEXT)))
    return rendered


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "html_block", "html_inline"])
