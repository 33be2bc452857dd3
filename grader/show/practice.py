"""What to do next, as a person reads it: kata alone, the day, the plan, what a round took."""

from collections.abc import Sequence
from datetime import date

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from grader import catalog
from grader.catalog import TRACKS
from grader.language import _, plural
from grader.practice.agenda import Agenda
from grader.practice.plan import Day, Goal
from grader.practice.rounds import Round, planned_minutes
from grader.practice.standing import Standing
from grader.show.console import next_step, say
from grader.show.course import MEDIUM

BAR = 20
DAYS_SHOWN = 14


def home(
    console: Console,
    found: Standing,
    agenda: Agenda,
    lang: str,
    *,
    goal: Goal | None,
    days: Sequence[Day],
    in_mock: str,
) -> None:
    """Show where one stands: the course, what is current, what is due, and what to type.

    ``in_mock`` is what to type while a mock interview runs.
    """
    total = len(catalog.katas())
    head = Text("kata", style="bold").append(f"  {bar(console, len(found.passed), total)} ", "")
    head.append(_("{passed} of {total} passed").format(passed=len(found.passed), total=total), "")
    console.print(head, no_wrap=True, overflow="ellipsis")
    if not found.done:
        say(console, _("Nothing has been begun yet."))
        _first_steps(console, lang)
        return
    rows: list[tuple[str, str]] = []
    opened = found.open_round()
    if found.current and opened:
        rows.append((_("current"), f"{catalog.typed(found.current)}  {round_facts(opened)}"))
    if agenda.reviews or agenda.due_questions:
        rows.append((_("due"), _due(agenda)))
    if goal:
        rows.append((_("plan"), _left(found.today, goal, days)))
    if (row := found.days_in_a_row()) > 1:
        rows.append((_("in a row"), plural("{count} day", "{count} days", row).format(count=row)))
    table(console, rows)
    for sentence in [in_mock] if in_mock else then(found, agenda):
        next_step(console, sentence)


def _first_steps(console: Console, lang: str) -> None:
    first = catalog.following(())
    if first is None:
        return
    sentence = _("`kata start {kata}`: {title}, {minutes} min")
    next_step(console, sentence.format(kata=first.id, title=first.title[lang], minutes=first.minutes))
    say(console, _("`kata list` shows all katas, `kata --help` all commands."))


def then(found: Standing, agenda: Agenda) -> list[str]:
    """Return the next commands, the first of them first."""
    steps = []
    opened = found.open_round()
    if opened and found.current:
        steps.append(_("`kata grade` grades {name}.").format(name=catalog.typed(found.current)))
    if agenda.reviews:
        steps.append(_("`kata review` reviews {kata}.").format(kata=agenda.reviews[0].id))
    if not steps and agenda.new:
        begun = agenda.new.id in found.done
        sentence = _("`kata start {kata}` goes on with it.") if begun else _("`kata start {kata}` begins the next one.")
        steps.append(sentence.format(kata=agenda.new.id))
    if not steps and agenda.questions:
        steps.append(_("`kata talk` asks what an interviewer asks."))
    return steps or [_("`kata list` shows all katas, `kata --help` all commands.")]


def _due(agenda: Agenda) -> str:
    parts = []
    if agenda.reviews:
        count = len(agenda.reviews) + agenda.waiting
        parts.append(plural("{count} review", "{count} reviews", count).format(count=count))
    if agenda.due_questions:
        count = agenda.due_questions
        parts.append(plural("{count} question", "{count} questions", count).format(count=count))
    return _(", ").join(parts)


def _left(today: date, goal: Goal, days: Sequence[Day]) -> str:
    if goal.until < today:
        return _("the day was {date}").format(date=goal.until)
    left = (goal.until - today).days + 1
    said = plural("{count} day left", "{count} days left", left).format(count=left)
    minutes = days[0].minutes if days else 0
    return said + (_(", today {minutes} min").format(minutes=minutes) if minutes else "")


def today(
    console: Console, found: Standing, agenda: Agenda, lang: str, *, questions: Sequence[str], in_mock: str
) -> None:
    """Show what to do today; ``in_mock`` is what to type while a mock interview runs."""
    head = Text(_("today"), style="bold").append(f"  {found.today}", "")
    if agenda.minutes:
        head.append(_(" · about {minutes} min").format(minutes=agenda.minutes), "")
    say(console, head)
    katas = catalog.katas()
    names = [card.id for card in agenda.reviews] + ([agenda.new.id] if agenda.new else [])
    wide = max(map(len, names), default=0)
    rows = [
        (
            _("review"),
            "  ".join((f"{card.id:{wide}}", _minutes(katas[card.id].minutes), since(found.today, card.day))),
        )
        for card in agenda.reviews
    ]
    if agenda.waiting:
        waiting = plural("{count} more is due and waits", "{count} more are due and wait", agenda.waiting)
        rows.append(("", waiting.format(count=agenda.waiting)))
    if agenda.new:
        opened = found.open_round()
        word = _("current") if opened and opened.name == agenda.new.id else _("new")
        rows.append(
            (
                word,
                "  ".join((f"{agenda.new.id:{wide}}", _minutes(agenda.new.minutes), agenda.new.title[lang])),
            )
        )
    rows += [(_("talk") if number == 0 else "", text) for number, text in enumerate(questions)]
    if agenda.shortest:
        say(
            console,
            _("Nothing fits into so little time: the shortest takes {minutes} min.").format(minutes=agenda.shortest),
        )
    elif not rows:
        say(console, _("Nothing is left for today."))
    table(console, rows)
    for sentence in [in_mock] if in_mock else then(found, agenda):
        next_step(console, sentence)


def planned(console: Console, found: Standing, goal: Goal, days: Sequence[Day]) -> None:
    """Show the days until the interview."""
    head = Text(_("plan"), style="bold").append(f"  {_left(found.today, goal, days)}", "")
    say(console, head)
    names = [(_weekday(day.day), day) for day in days if day.katas]
    if not names:
        say(console, _("All katas are passed."))
    rows = [
        (
            name,
            f"{_minutes(day.minutes):>7}  {' '.join(kata.id for kata in day.katas)}",
        )
        for name, day in names[:DAYS_SHOWN]
    ]
    table(console, rows)
    if hidden := len(names[DAYS_SHOWN:]):
        say(console, plural("… and {count} more day", "… and {count} more days", hidden).format(count=hidden))
    if most := max((day.minutes for day in days), default=0):
        say(console, _("A day has at most {minutes} min of new katas; reviews come on top.").format(minutes=most))
    next_step(console, _("`kata today` shows what is next."))


def _minutes(count: int) -> str:
    return _("{count} min").format(count=count)


def table(console: Console, rows: Sequence[tuple[str, str]]) -> None:
    """Show names with what belongs to them, each in as many lines as it takes."""
    from grader.text import lines  # noqa: PLC0415 - not for all of this room

    names = max((cell_len(name) for name, _said in rows), default=0)
    room = max(20, console.width - names - 4) if console.is_terminal else 10**6
    for name, said in rows:
        first, *others = lines(said, room) or [""]
        console.print(Text.assemble("  ", (name, "magenta"), " " * (names - cell_len(name) + 2), first), soft_wrap=True)
        for line in others:
            console.print(" " * (names + 4) + line.lstrip(), soft_wrap=True)


def tracks(console: Console, passed: set[str], lang: str) -> None:
    """Show the course as bars, a line for each track."""
    katas = catalog.katas().values()
    names = [title[lang] for title in TRACKS.values()]
    width = max(map(cell_len, names))
    for number, title in TRACKS.items():
        own = [kata.id for kata in katas if kata.track == number]
        if own:
            name = title[lang]
            done = sum(kata_id in passed for kata_id in own)
            line = (
                f"{number} · {name}{' ' * (width - cell_len(name))}  {bar(console, done, len(own))}  {done}/{len(own)}"
            )
            console.print(line, soft_wrap=True)


def bar(console: Console, done: int, total: int) -> str:
    """Return a bar as long as the share of what is done."""
    whole = BAR if console.width >= MEDIUM else BAR // 2
    filled = max(whole * done // total, min(done, 1)) if total else 0
    return "█" * filled + "░" * (whole - filled)


def round_facts(one: Round, *, number: int | None = None) -> str:
    """Return what a round took against the plan: minutes, gradings, hints."""
    minutes = _("{minutes} of {planned} min").format(minutes=round(one.minutes), planned=planned_minutes(one.kata))
    gradings = plural("{count} grading", "{count} gradings", one.gradings).format(count=one.gradings)
    gradings = gradings if one.gradings else _("not graded yet")
    hints = plural("{count} hint", "{count} hints", one.hints).format(count=one.hints) if one.hints else ""
    said = _("round {number}").format(number=number) if number else ""
    return " · ".join(filter(None, (said, minutes, gradings, hints)))


def since(today: date, day: date) -> str:
    """Return how long something has been due, or when it will be."""
    days = (today - day).days
    if days == 0:
        return _("due today")
    if days > 0:
        return plural("due for {count} day", "due for {count} days", days).format(count=days)
    return plural("due in {count} day", "due in {count} days", -days).format(count=-days)


def _weekday(day: date) -> str:
    names = (_("Mon"), _("Tue"), _("Wed"), _("Thu"), _("Fri"), _("Sat"), _("Sun"))
    return f"{names[day.weekday()]} {day:%m-%d}"
