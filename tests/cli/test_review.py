"""review: what was passed is written again, in a file of its own."""

import json
import re

import pytest


@pytest.fixture
def learned(tool):
    """Return the tool after a pass three weeks ago."""
    tool.passes("first-one")
    tool.days_later(20)
    return tool


def cards(tool) -> dict:
    """Return the reviews by kata."""
    return {one["kata"]: one for one in json.loads(tool("review", "--list", "--json").stdout)["reviews"]}


def test_a_review_from_an_empty_stub(learned):
    """The old answer stays; commands without a name, and with that of the kata, are about the review until its end."""
    page = learned("review").stdout
    assert "The task." in page
    stub = (learned.content / "katas" / "first-one" / "stub.py").read_text()
    assert (learned.workspace / "first_one_review.py").read_text() == stub
    assert (learned.workspace / "first_one.py").read_text() == "# pass\n"
    learned.answer("# fail\n", "first_one_review.py")
    learned("grade", code=1)
    learned("hint", "first-one")
    learned.answer("# pass again\n", "first_one_review.py")
    page = learned("grade", "first-one").stdout
    assert "round 1 · 0 of 15 min · 2 gradings · 1 hint\n" in page
    assert re.search(r"rated hard, due in \d+ days?; `kata review --rate RATING` corrects that", page)
    assert (learned.workspace / "first_one.py").read_text() == "# pass\n"
    card = cards(learned)["first-one"]
    assert (card["reviews"], card["lapses"]) == (2, 0)
    assert "mha" not in page
    learned("grade", "first-one")
    assert learned.kept("first-one")[-1] == "# pass\n"


def test_the_rating_can_be_corrected(learned):
    """In a word or a number, as often as one likes; the card has no review more."""
    before = cards(learned)["first-one"]
    assert "first-one is rated again: due for" in learned("review", "--rate", "again").stdout
    after = cards(learned)["first-one"]
    assert (after["reviews"], after["lapses"], after["due"] < before["due"]) == (1, 1, True)
    learned("review", "first-one", "--rate", "4")
    assert cards(learned)["first-one"] == before
    assert "Invalid value" in learned("review", "--rate", "5", code=2).output
    learned("review", "second", "--rate", "4", code=2)


def test_a_review_goes_on(learned):
    """A second `kata review` overwrites nothing; after the end the old file is moved away for the next."""
    learned("review")
    learned.answer("# pass, half\n", "first_one_review.py")
    assert "goes on" in learned("review").stdout
    assert (learned.workspace / "first_one_review.py").read_text() == "# pass, half\n"
    learned("grade")
    assert "Nothing is due; next: first-one, due in" in learned("review").stdout
    assert "older file is now" in learned("review", "first-one").stdout
    assert "# pass, half\n" in learned.kept("first-one.review")


def test_giving_up_is_again(learned):
    """Though the kata was passed before, its solution is shown in a review only to who gives up."""
    learned("review")
    learned("solution", "first-one", code=2)
    learned("solution", "first-one", "--give-up")
    card = cards(learned)["first-one"]
    assert (card["reviews"], card["lapses"]) == (2, 1)
    learned("solution", "first-one")


def test_a_review_by_a_debug_round(tool):
    """It counts; one that was begun by `kata start --debug` does not."""
    tool.passes("third")
    for command in (("start", "third", "--debug"), ("review", "third", "--debug")):
        tool(*command)
        tool.answer("# pass\n", "third_debug.py")
        tool("grade", "third", "--debug")
    assert cards(tool)["third"]["reviews"] == 2


def test_what_cannot_be_reviewed(tool):
    """Each in a sentence."""
    assert "Nothing is due" in tool("review").stdout
    assert "Nothing has been passed yet" in tool("review", "--list").stdout
    assert "has not been passed yet" in tool("review", "second", code=2).output
    assert "has not been passed yet" in tool("review", "third", "--debug", code=2).output
    assert not (tool.workspace / "third_debug.py").exists()
    tool("review", "--rate", "good", code=2)
    tool("review", "--json", code=2)
    tool("review", "--list", "--debug", code=2)


def test_a_review_without_a_history_writes_no_file(learned):
    """Nobody could rate it."""
    (learned.home / "history.db").unlink()
    for path in learned.home.iterdir():
        path.unlink()
    learned.home.rmdir()
    learned.home.write_text("no folder")
    learned("review", "first-one", code=2)
    assert not (learned.workspace / "first_one_review.py").exists()


def test_a_key_of_watch_corrects_the_rating(tool, terminal):
    """After the pass that ends the round, 1 to 4."""
    tool("start", "second")
    tool.answer("# pass\n")
    screen = terminal(tool.process, "watch", "second", columns=100, rows=30)
    screen.until("1-4 rate anew")
    screen.press("1")
    screen.until("second is rated again")
    screen.press("q")
    assert screen.end() == 0
    assert cards(tool)["second"]["lapses"] == 1
