"""Questions as cards for Anki: text in columns, whose first lines say how it is to be read.

https://docs.ankiweb.net/importing/text-files.html
"""

import html
import re
from collections.abc import Iterable, Iterator
from typing import Final

from grader.pages import joined
from grader.practice.questions import Asked

HEAD: Final = ("#separator:tab", "#html:true", "#guid column:1", "#tags column:4")


def cards(known: Iterable[Asked], lang: str) -> Iterator[str]:
    """Yield the lines of the file: a card each, with an id that stays, so that a later import changes no other."""
    yield from HEAD
    for one in known:
        guid = f"kata/{one.id}" + ("" if lang == "en" else f"/{lang}")
        yield "\t".join((guid, _html(one.text), _html(one.answer), f"kata {one.kata}"))


def _html(text: str) -> str:
    """Return Markdown as the HTML of a card, in one line."""
    text = html.escape(joined(text).replace("\t", " "), quote=False)
    text = re.sub(r"(?s)```\w*\n(.*?)```", lambda found: f"<pre>{found[1].replace(chr(10), '<br>')}</pre>", text)
    text = re.sub(r"`([^`\n]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    paragraphs = [" ".join(part.split("\n")) for part in text.strip().split("\n\n")]
    return "<br><br>".join(paragraphs)
