"""Text that comes from a learner, made safe for a terminal, a log and a JSON document."""

import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path

CUT = "… [cut]"

# Whole escape sequences go: colours, cursor moves, window titles, hyperlinks, clipboard writes.
_SEQUENCES = (
    r"[\x1b]\[[0-?]*[ -/]*[@-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]{0,1000}(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-Z\\^-~]"
)

# What is left and would act on a terminal or hide what a reader sees: control characters, format characters (all that
# change the direction of text, but not the two joiners that scripts and emoji need), line separators, surrogates.
_UNSAFE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u06dd\u070f\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)

# What a line may be broken between: words and wide characters, with what opens and closes around them.
# ruff: noqa: RUF001 - Chinese punctuation is meant
_WIDE = r"\u2e80-\u303f\u3400-\u9fff\uff00-\uffef\u201c\u201d\u2026\u2014"
_PIECES = rf"[（《“「\[(]*(?:[{_WIDE}]|[^\s{_WIDE}]+)[，。；：、！？）」』》”…—)\]]* *| +"


def clean(text: str | bytes, limit: int = 4000) -> str:
    r"""Return `text` without anything that could act on a terminal, at most `limit` characters long.

    Escape sequences are dropped, other control and invisible characters are written out (`\x07`, `\u202e`), every
    line ending becomes a newline; tabs stay. Bytes are read as UTF-8. A cut is marked. Cleaning twice changes nothing.
    """
    if isinstance(text, bytes):
        text = text[: 64 * limit].decode("utf-8", "backslashreplace")
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text  # most are, and to compile the patterns takes longer than all the rest
    whole = len(text) <= 16 * limit
    text = text[: 16 * limit].replace("\r\n", "\n").replace("\r", "\n")
    text = re.sub(_UNSAFE, _written_out, re.sub(_SEQUENCES, "", text))
    if whole and len(text) <= limit:
        return text
    return text[: max(0, limit - len(CUT))] + CUT[:limit]


def shown(path: Path) -> str:
    """Return a path as a person would write it from here, safe for a terminal."""
    absolute = os.path.abspath(path)  # noqa: PTH100 - resolve() would follow the learner's links
    try:
        return clean(str(Path(absolute).relative_to(Path.cwd())))
    except (ValueError, OSError):
        return clean(absolute)


def cells(text: str) -> int:
    """Return how many columns of a terminal `text` takes: Chinese characters take two."""
    if text.isascii():
        return len(text)
    from unicodedata import east_asian_width  # noqa: PLC0415 - not for English

    return len(text) + sum(east_asian_width(character) in "WF" for character in text)


def breaks(text: str, width: int, *, fold: bool = False) -> list[int]:
    """Return where new lines begin in a text without line breaks, so that each is at most `width` columns wide.

    They begin at words, and beside any character that is two columns wide. Punctuation stays with what it opens or
    closes. A word that is wider than a line is broken where it must be with `fold`, else left whole.
    """
    offsets, used = [], 0
    for found in re.finditer(_PIECES, text):
        pieces = _folded(found[0], width) if fold else [found[0]]
        for start, piece in zip(_starts(found.start(), pieces), pieces, strict=True):
            if used and used + cells(piece.rstrip()) > width:
                offsets.append(start)
                used = 0
            used += cells(piece)
    return offsets


def lines(text: str, width: int) -> list[str]:
    """Break a text into lines of at most `width` columns: at spaces, and beside any character that is two columns wide.

    Punctuation stays with what it opens or closes.
    """
    text = text.replace("\n", " ")
    offsets = [0, *breaks(text, width), len(text)]
    return [text[start:end].rstrip() for start, end in itertools.pairwise(offsets)]


def longest_piece(text: str) -> int:
    """Return how many columns the longest part of a text takes that is not broken."""
    return max((cells(piece.rstrip()) for piece in re.findall(_PIECES, text)), default=0)


def _folded(piece: str, width: int) -> list[str]:
    parts, part = [], ""
    for character in piece:
        if part and cells(part) + cells(character) > width and not character.isspace():
            parts.append(part)
            part = ""
        part += character
    return [*parts, part]


def _starts(start: int, pieces: list[str]) -> Iterator[int]:
    for piece in pieces:
        yield start
        start += len(piece)


def _written_out(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code <= 0xFF:  # noqa: PLR2004 - two hexadecimal digits hold it
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - likewise four
