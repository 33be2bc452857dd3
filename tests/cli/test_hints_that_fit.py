"""Hints follow the failure: the rung that helps against the mistake of the last grading comes first."""

import json

import pytest


@pytest.fixture
def failed(tool):
    """Return the tool after a grading whose diagnosis names the second rung."""
    tool("start", "second")
    tool.answer("fail")
    tool("grade", code=1)
    return tool


def test_the_fitting_rung_comes_first_and_says_why(failed):
    """The mistake of the last grading is named; asked again, it goes a step further, and in the end to what is left."""
    first, second, third, end = (failed("hint").stdout for _ in range(4))
    assert first.startswith("second\nChosen because of your last grading: mask over heads.")
    assert "Further" in first
    assert "hint 2 of 3; `kata hint second` shows the next one." in first
    assert "Chosen because" not in second + third + end
    assert "Nearly" in second
    assert "hint 3 of 3; `kata hint second` shows one before it that was left out." in second
    assert "Where to start" in third
    assert "`kata solution second --give-up`" in third
    assert "These are all 3 hints for second" in end
    assert json.loads(failed("status", "second", "--json").stdout)["hints"] == 3


def test_a_rung_that_was_shown_is_not_shown_again(failed):
    """The same diagnosis a second time leaves the ladder as it is."""
    failed("hint")
    failed("grade", code=1)
    output = failed("hint").stdout
    assert "Nearly" in output
    assert "Chosen because" not in output


@pytest.mark.parametrize(
    "mistakes", [[], [{"title": "other", "hint": 0}], [{"title": "other"}], [{"title": "other", "hint": 9}]]
)
def test_without_a_fitting_rung_the_ladder_begins_below(tool, monkeypatch, mistakes):
    """No diagnosis, one without a rung, one of an older report, a rung that is not there."""
    mistakes = [{"explain": "Because.", "nudge": "why?", "cases": []} | mistake for mistake in mistakes]
    real = tool.driver.Session.grade

    def grade(*arguments, **options):
        return real(*arguments, **options) | {"mistakes": mistakes}

    monkeypatch.setattr(tool.driver.Session, "grade", grade)
    tool.answer("fail")
    tool("grade", "second", code=1)
    output = tool("hint", "second").stdout
    assert "hint 1 of 3" in output
    assert "Chosen because" not in output


def test_the_last_grading_decides(failed):
    """After a pass nothing is left to help against."""
    failed.answer("pass")
    failed("grade")
    assert "hint 1 of 3" in failed("hint").stdout


def test_a_new_round_knows_no_old_failure(failed):
    """After a reset the ladder begins at its foot."""
    failed("reset")
    assert "hint 1 of 3" in failed("hint").stdout


def test_a_debug_round_leaves_the_ladder_alone(failed):
    """A failure in a debug round chooses no hint for the answer."""
    failed("start", "third", "--debug")
    failed("grade", code=1)
    assert "hint 1 of 3" in failed("hint", "third").stdout
