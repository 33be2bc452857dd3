"""kata alone, today, plan, and the clock after a pass."""

import json
import re
from datetime import UTC, datetime

import pytest

from grader.text import cells, clean


def test_kata_alone_tells_what_is_current_and_due(tool):
    """And what to type for it."""
    tool.passes("first-one")
    tool.days_later(20)
    tool("start", "second")
    page = tool().stdout
    assert "1 of 3 passed" in page
    assert re.search(r"current +second +0 of 15 min · not graded yet", page)
    assert re.search(r"due +1 review\n", page)
    steps = [line for line in page.splitlines() if line.startswith("→")]
    assert steps == ["→ `kata grade` grades second.", "→ `kata review` reviews first-one."]


def test_today(tool):
    """Reviews that are due, one kata, questions of what was passed; fewer where there is less time."""
    tool.passes("first-one")
    tool.days_later(20)
    document = json.loads(tool("today", "--json").stdout)
    assert [one["kata"] for one in document["reviews"]] == ["first-one"]
    assert (document["new"], document["waiting"]) == ("second", 0)
    assert document["questions"] == ["first-one/why", "first-one/how-large"]
    assert document["minutes"] == 15 + 15 + 2 * 2
    page = tool("today").stdout
    assert "about 34 min" in page
    assert "How large is it?" in page
    assert json.loads(tool("today", "--minutes", "20", "--json").stdout)["new"] is None
    assert "为什么" in tool("--lang", "zh", "today", LANGUAGE="").stdout
    tool("--lang", "en", "today")


def test_too_little_time_for_anything(tool):
    """Is told, with what the shortest thing takes; that is not a day on which nothing is left."""
    page = tool("today", "--minutes", "5").stdout
    assert "Nothing fits into so little time: the shortest takes 15 min." in page
    assert "Nothing is left" not in page


def test_a_plan_follows_what_happens(tool):
    """What is passed is planned no more; the day is kept, and forgotten on request."""
    tool("plan", code=2)
    document = json.loads(tool("plan", "--days", "3", "--json").stdout)
    assert [day["katas"] for day in document["days"]] == [["first-one"], ["second"], ["third"]]
    tool.passes("first-one")
    document = json.loads(tool("plan", "--json").stdout)
    assert [day["katas"] for day in document["days"]] == [["second"], [], ["third"]]
    assert "3 days left" in tool().stdout
    today = datetime.now(UTC).astimezone().date()
    document = json.loads(tool("plan", "--until", str(today), "--json").stdout)
    assert [day["katas"] for day in document["days"]] == [["second", "third"]]
    tool("plan", "--off")
    tool("plan", code=2)
    assert "days left" not in tool().stdout


@pytest.mark.parametrize("arguments", [("--until", "soon"), ("--until", "2001-01-01"), ("--days", "2", "--off")])
def test_a_plan_for_no_day(tool, arguments):
    """A sentence, and the plan that there was stays."""
    tool("plan", "--days", "3")
    tool("plan", *arguments, code=2)
    assert "3 days left" in tool("plan").stdout


def test_a_day_that_is_past_and_one_too_far_away(tool):
    """Each is told as what it is."""
    assert "2001-01-01 is past." in tool("plan", "--until", "2001-01-01", code=2).output
    assert "2999-01-01 is not within a year from today." in tool("plan", "--until", "2999-01-01", code=2).output


def test_a_pass_tells_what_the_round_took(tool):
    """Minutes against the plan, gradings, hints, which round; once, and not of chosen cases."""
    tool("start", "second")
    tool.answer("# fail\n")
    tool("grade", code=1)
    tool("hint")
    tool.answer("# pass\n")
    assert "of 15 min" not in tool("grade", "--case", "core").stdout
    assert "round 1 · 0 of 15 min · 3 gradings · 1 hint\n" in tool("grade").stdout
    assert "of 15 min" not in tool("grade").stdout


def test_status_shows_the_course_as_bars(tool):
    """A line for each track, and minutes and rounds beside each kata."""
    tool.passes("first-one")
    page = tool("status").stdout
    assert re.search(r"1 · One head +█{10}░{10}  1/2\n", page)
    assert re.search(r"2 · Many heads +░{20}  0/1\n", page)
    (row,) = json.loads(tool("status", "--json").stdout)["katas"]
    assert (row["id"], row["minutes"], row["rounds"]) == ("first-one", 0, 1)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("command", [(), ("today",), ("plan", "--days", "9"), ("status",)])
def test_sixty_columns(tool, lang, command):
    """Every line fits into 60 columns of a terminal, and none has a colour in a pipe."""
    tool.passes("first-one")
    tool.days_later(20)
    tool("start", "second")
    page = clean(tool("--lang", lang, *command, COLUMNS="60", LANGUAGE="", FORCE_COLOR="1", TERM="xterm").stdout)
    tool("--lang", "en", "list")
    assert max(map(cells, page.splitlines())) <= 60
    assert "\x1b" not in tool(*command, COLUMNS="60").stdout


def test_a_history_that_cannot_be_used(tool):
    """`kata` and `kata today` say so once and go on with what they know."""
    tool.home.write_text("no folder")
    for command in ((), ("today",)):
        result = tool(*command)
        assert result.stderr.count("Warning:") == 1
        assert "first-one" in result.stdout


def test_bars_without_their_characters(tool):
    """Where the encoding has no blocks, a bar is told apart all the same."""
    tool.passes("first-one")
    process = tool.process("status", environment={"PYTHONIOENCODING": "ascii"})
    assert b"1 - One head    ##########..........  1/2" in process.communicate()[0]


def test_every_page_names_the_same_next_kata(tool):
    """After a pass the page, `kata`, `kata today` and the list go on behind it; what has a file is gone on with."""
    tool("start", "first-one")
    tool("start", "second")
    tool.answer("pass")
    assert "→ `kata start third`" in tool("grade").stdout
    assert "→ `kata start third` begins the next one." in tool().stdout
    assert "third" in tool("today").stdout
    assert "→ `kata start third`" in tool("list").stdout
    assert json.loads(tool("list", "--json").stdout)["next"] == "third"
    tool.passes("third")
    assert "→ `kata start first-one` goes on with it." in tool().stdout
