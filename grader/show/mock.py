"""Mock interviews that are over: a score card, and how they compare. It tells what happened, and judges nobody."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich.console import Console

from grader.language import _
from grader.show.practice import table
from grader.show.times import moment

Card = dict[str, Any]


def card_page(card: Card, before: Sequence[Card]) -> str:
    """Return a score card as Markdown, with the last ones beside it."""
    began = moment(datetime.fromisoformat(card["began"]))
    head = _("Mock interview {number}").format(number=card["mock"])
    used = _("{used} of {minutes} min").format(used=round(card["used_minutes"]), minutes=card["minutes"])
    facts = [began, used]
    if card["overtime_minutes"]:
        facts.append(_("{count} min of overtime").format(count=round(card["overtime_minutes"])))
    lines = [f"# {head}", "", " · ".join(facts), "", f"**{_in_time(card)}**", ""]
    lines += [f"| {_('stage')} | {_('result')} | {_('min')} | {_('families that failed')} |", "|---|---|---|---|"]
    for stage in card["stages"]:
        name = f"`{stage['kata']}`" + (" --debug" if stage["debug"] else "")
        took = "" if stage["minutes"] is None else f"{round(stage['minutes'])}/{stage['planned']}"
        lines.append(f"| {name} | {_result(stage)} | {took} | {' '.join(stage['families'])} |")
    if left := [(stage["kata"], title) for stage in card["stages"] for title in stage["mistakes"]]:
        lines += ["", f"## {_('Mistakes that were left')}", *(f"- `{kata}`: {title}" for kata, title in left)]
    if card["questions"]:
        lines += ["", f"## {_('Questions')}"]
        lines += [f"- `{one['id']}`: {one['rating']}/4" for one in card["questions"]]
    if before:
        lines += ["", f"## {_('Before')}"]
        lines += [f"- {moment(datetime.fromisoformat(one['began']))}: {_in_time(one)}" for one in reversed(before[-5:])]
    return "\n".join(lines) + "\n"


def past(console: Console, cards: Sequence[Card]) -> None:
    """Show mock interviews, a line each."""
    table(
        console,
        [
            (
                str(card["mock"]),
                "  ".join(
                    (
                        moment(datetime.fromisoformat(card["began"])),
                        _in_time(card),
                        " ".join(stage["kata"] for stage in card["stages"]),
                    )
                ),
            )
            for card in cards
        ],
    )


def _in_time(card: Card) -> str:
    sentence = _("{count} of {total} stages passed in time")
    return sentence.format(count=card["stages_in_time"], total=len(card["stages"]))


def _result(stage: dict[str, Any]) -> str:
    if not stage["reached"]:
        return _("not reached")
    if stage["passed"]:
        return _("passed in time") if stage["in_time"] else _("passed in overtime")
    if stage["cases"] is None:
        return _("nothing handed in")
    return _("{passed} of {total} cases").format(**stage["cases"])
