"""Which language a learner reads."""

import pytest

from grader.language import from_locale, plural, recognised


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_TW"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "zh"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh"),
    ],
)
def test_the_locale_decides_as_posix_says(environment, language):
    """LC_ALL goes before LC_MESSAGES before LANG; an empty one counts as not set."""
    assert from_locale(environment) == language


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("zh", "zh"),
        ("ZH-hans", "zh"),
        ("zh_CN.UTF-8", "zh"),
        ("zh.utf8", "zh"),
        ("en_GB", "en"),
        ("fr", None),
        ("", None),
    ],
)
def test_names_of_languages(name, language):
    """A locale's name is understood by its language."""
    assert recognised(name) == language


def test_one_and_many():
    """English has two forms."""
    assert [plural("one", "many", count) for count in (0, 1, 2)] == ["many", "one", "many"]
