"""Standard output and error that take any text, whatever their encoding."""

import codecs
import sys

# What an encoding without these characters shows instead.
# ruff: noqa: RUF001 - the characters that look alike are the point
_PLAIN = {
    "✓": "+", "✗": "x", "○": "o", "▸": ">", "→": "->", "·": "-", "…": "...", "–": "-", "—": "-", "−": "-",
    "‘": "'", "’": "'", "“": '"', "”": '"', "×": "x", "≤": "<=", "≥": ">=", "≠": "!=", "√": "sqrt", "∞": "inf",
    "│": "|", "┃": "|", "─": "-", "━": "-", "•": "*", "▁": "_", "▂": "_", "▃": ".", "▄": "-", "▅": "-",
    "▆": "=", "▇": "+", "█": "#", "░": ".",
}  # fmt: skip


def _in_plain_characters(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    part = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in part), error.end


def encoding_without(text: str) -> str:
    """Return the name of the output's encoding where it does not have these characters, "" where it does."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return encoding
    return ""


def make_streams_safe() -> None:
    """Let no character end the program: what the output's encoding does not have is replaced."""
    codecs.register_error("kata-plain", _in_plain_characters)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="kata-plain")
