"""The language of briefs, hints, titles and diagnoses, and the hook through which the tool's own sentences go."""

import os
from collections.abc import Mapping

LANGUAGES = ("en", "zh")

# POSIX: the first of these that is set decides, even when it says "C".
_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


def _(sentence: str) -> str:
    """Return the tool's own `sentence` in the reader's language; placeholders are filled in afterwards."""
    return sentence


def plural(one: str, many: str, count: int) -> str:
    """Return the sentence that fits `count`; placeholders are filled in afterwards."""
    return one if count == 1 else many


def recognised(name: str) -> str | None:
    """Return the language that a name such as `zh`, `zh_CN.UTF-8` or `en-GB` stands for, None for any other."""
    short = name.strip().lower().replace("-", "_").split("_")[0].split(".")[0]
    return short if short in LANGUAGES else None


def from_locale(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language of the locale, English where it is none of ours."""
    setting = next((environment[name] for name in _LOCALE_VARIABLES if environment.get(name)), "")
    return recognised(setting) or "en"
