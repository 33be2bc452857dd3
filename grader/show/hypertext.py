"""Markdown as HTML for a page in a browser: what is HTML in it is shown as text."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from markdown_it import MarkdownIt

from grader.pages import joined
from grader.text import clean

MOST_TEXT: Final = 200_000
_ALIGNED: Final = re.compile(r' style="text-align:(left|center|right)"')
"""A page takes no style from its HTML."""


def html(text: str) -> str:
    """Return Markdown as HTML."""
    rendered: str = _parser().render(joined(clean(text, MOST_TEXT)))
    return _ALIGNED.sub(r' class="\1"', rendered)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "html_block", "html_inline"])
