"""The language of briefs, hints, titles and diagnoses, and the catalogues through which the tool's own sentences go.

The sentences stand in the code in English, the catalogues in ``locale/``; ``make messages`` brings them up to date.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gettext import NullTranslations

LANGUAGES: Final = ("en", "zh")
DOMAIN: Final = "kata"
CATALOGUES: Final = Path(__file__).with_name("locale")

# POSIX: the first of these that is set decides, even when it says "C".
_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


class _Reader:
    """Who reads what this process says."""

    lang = "en"
    catalogue: "NullTranslations | None" = None


def use(lang: str) -> None:
    """Speak this language from now on, in the whole process. English needs no catalogue and loads none."""
    if lang == "en":
        _Reader.catalogue = None
    elif lang != _Reader.lang:
        from gettext import translation  # noqa: PLC0415 - English does without

        _Reader.catalogue = translation(DOMAIN, CATALOGUES, [lang])
    _Reader.lang = lang


def current() -> str:
    """Return the language that this process speaks."""
    return _Reader.lang


def _(sentence: str) -> str:
    """Return the tool's own `sentence` in the reader's language; placeholders are filled in afterwards."""
    return _Reader.catalogue.gettext(sentence) if _Reader.catalogue and sentence else sentence


def together(*sentences: str) -> str:
    """Return sentences one behind the other: a full-width full stop has its gap already."""
    text = ""
    for sentence in filter(None, sentences):
        text += sentence if not text or text.endswith("。") else f" {sentence}"
    return text


def plural(one: str, many: str, count: int) -> str:
    """Return the sentence that fits `count`; placeholders are filled in afterwards."""
    if _Reader.catalogue:
        return _Reader.catalogue.ngettext(one, many, count)
    return one if count == 1 else many


def marked(sentence: str) -> str:
    """Mark a sentence for the catalogues that is handed to `_` elsewhere, where its reader's language is known."""
    return sentence


def recognised(name: str) -> str | None:
    """Return the language that a name such as `zh`, `zh_CN.UTF-8` or `en-GB` stands for, None for any other."""
    short = name.strip().lower().replace("-", "_").split("_")[0].split(".")[0]
    return short if short in LANGUAGES else None


def from_locale(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language of the locale, English where it is none of ours."""
    setting = next((environment[name] for name in _LOCALE_VARIABLES if environment.get(name)), "")
    return recognised(setting) or "en"
