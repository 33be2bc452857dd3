"""What an interviewer asks: talk."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from grader import catalog
from grader.cli.base import App, KataCommand, examples, kata_names
from grader.cli.practice import standing
from grader.errors import UsageError
from grader.history import History
from grader.language import _, plural
from grader.practice.questions import Asked, in_turn, questions
from grader.records import Rated
from grader.text import clean

if TYPE_CHECKING:
    from rich.text import Text

AT_ONCE: Final = 10
"""So many questions are asked in a row where nobody says how many."""
QUIZZES: Final = 5
ANKI: Final = "anki"


@click.command(
    "talk",
    cls=KataCommand,
    short_help="What an interviewer asks: question, answer, rating.",
    epilog=examples(
        "kata talk", "kata talk mha", "kata talk --find cache", "kata talk --quiz", "kata talk --export anki > talk.tsv"
    ),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--find", "wanted", metavar="TEXT", help="Show the questions and answers that contain TEXT.")
@click.option("--list", "as_list", is_flag=True, help="Show questions and answers one below the other.")
@click.option("--quiz", is_flag=True, help="Ask for numbers: parameters, FLOPs, bytes, tokens a second.")
@click.option("--number", type=click.IntRange(1, 1000), metavar="N", help="Ask so many questions.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="With --quiz: draw the same numbers again.")
@click.option("--export", "form", type=click.Choice([ANKI]), help="Write the questions as cards, tab-separated.")
@click.pass_obj
def talk_command(
    app: App,
    *,
    kata: str | None,
    wanted: str | None,
    as_list: bool,
    quiz: bool,
    number: int | None,
    seed: int | None,
    form: str | None,
) -> None:
    """Ask what an interviewer asks about KATA; without KATA, what is due, then what is new of katas that you passed.

    Say your answer aloud, press Enter, compare, and rate yourself from 1 (not known) to 4 (easy): that says when the
    question comes back. With --quiz, without KATA, the numbers are drawn anew each time; one percent off is right.
    """
    if sum((wanted is not None, as_list, quiz, form is not None)) > 1:
        raise click.UsageError(_("--find, --list, --quiz and --export exclude each other."))
    if seed is not None and not quiz:
        raise click.UsageError(_("--seed goes with --quiz."))
    if quiz and kata is not None:
        raise click.UsageError(_("--quiz takes no KATA."))
    if quiz:
        _quiz(number or QUIZZES, seed)
        return
    chosen = catalog.find(app.kata_id(kata)).id if kata is not None else None
    known = questions(app.lang, chosen)
    if form:
        _export(known, app.lang)
    elif wanted is not None:
        _show(_matching(known, wanted), wanted)
    elif as_list:
        _show(known, "")
    else:
        found = standing(app)
        passed = set(catalog.katas()) if chosen else found.passed
        turn = in_turn(known, found.cards, passed, found.now)
        if chosen and not turn:
            turn = known  # asked for by name: before they are due, too
        if not turn:
            sentence = _("No question is due. What you pass brings new ones; `kata talk KATA` asks about one kata.")
            click.echo(sentence)
            return
        rated = ask(app, turn[: number or AT_ONCE])
        _told(len(rated), len(turn))


def ask(app: App, asked: Sequence[Asked], first: int = 1, total: int = 0) -> list[tuple[str, int]]:
    """Ask one question after the other; each rating is stored at once. Returns them, up to where somebody stopped.

    ``first`` is the number of the first one, of so many in ``total`` where these are not all.
    """
    from grader.show.console import console, markdown, say  # noqa: PLC0415 - rich is for people
    from grader.show.practice import since  # noqa: PLC0415

    screen = console()
    given: list[tuple[str, int]] = []
    for number, one in enumerate(asked, first):
        known = last_rating(app, one.id)
        say(screen, _head(number, total or len(asked), one.id))
        say(screen, one.text)
        if read_line(_("Say your answer, then press Enter (q ends): ")) in {None, "q"}:
            break
        markdown(screen, one.answer)
        rating = _rating()
        if rating is None:
            break
        stored = store_rating(app, one.id, rating, known)
        if stored is False:
            say(screen, _("Another terminal has rated this question meanwhile; that rating counts."))
        elif stored:
            found = standing(app)
            say(screen, since(found.today, found.cards[one.id].day))
        given.append((one.id, rating))
        screen.print()
    return given


def read_line(prompt: str) -> str | None:
    """Return a line that was typed, without what surrounds it; None where there is no more."""
    click.echo(prompt, nl=False)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        click.echo()
        return None
    if not sys.stdin.isatty():
        click.echo()
    return line.strip()


def _rating() -> int | None:
    while True:
        typed = read_line(_("1 not known · 2 with effort · 3 known · 4 easy (q ends): "))
        if typed is None or typed == "q":
            return None
        if typed in {"1", "2", "3", "4"}:
            return int(typed)


def _head(number: int, count: int, card: str) -> "Text":
    from rich.text import Text  # noqa: PLC0415 - rich is for people

    return Text(f"{number}/{count} · {card}", style="dim")


def last_rating(app: App, card: str) -> int:
    """Return the number of the last rating of a card, 0 for none."""
    ratings = app.ask(History.ratings, list[Rated](), "")
    return max((one.number for one in ratings if one.card == card), default=0)


def store_rating(app: App, card: str, rating: int, known: int) -> bool | None:
    """Store a rating; False where another terminal was first, None where the history cannot be used."""

    def store(history: History) -> bool | None:
        return history.rate(card, rating, known=known)

    return app.ask(store, None, _("This rating is not in your history."))


def _told(rated: int, due: int) -> None:
    sentence = plural("{count} question answered", "{count} questions answered", rated).format(count=rated)
    left = due - rated
    more = plural(", {count} more is waiting.", ", {count} more are waiting.", left).format(count=left)
    click.echo(sentence + (more if left > 0 else _(".")))


def _matching(known: Sequence[Asked], wanted: str) -> list[Asked]:
    word = wanted.casefold()
    found = [one for one in known if word in f"{one.id} {one.text} {one.answer}".casefold()]
    if not found:
        sentence = _("No question contains '{text}'.")
        raise UsageError(sentence.format(text=clean(wanted, 80)), _("`kata talk --list` shows them all."))
    return found


def _show(found: Sequence[Asked], wanted: str) -> None:
    from rich.text import Text  # noqa: PLC0415 - rich is for people

    from grader.show.console import console, markdown, say  # noqa: PLC0415

    screen = console()
    for one in found:
        say(screen, Text(one.id, style="dim"))
        say(screen, Text(one.text, style="bold"))
        markdown(screen, one.answer)
        screen.print()
    if wanted:
        click.echo(plural("{count} question", "{count} questions", len(found)).format(count=len(found)))


def _export(known: Sequence[Asked], lang: str) -> None:
    from grader.practice.anki import cards  # noqa: PLC0415 - for this alone

    for line in cards(known, lang):
        click.echo(line)


def _quiz(count: int, seed: int | None) -> None:
    from grader.practice import quiz  # noqa: PLC0415 - for this alone
    from grader.show.console import console, say  # noqa: PLC0415 - rich is for people

    if seed is None:
        seed = datetime.now(UTC).microsecond
    screen = console()
    right = asked = 0
    for number, one in enumerate(quiz.drawn(seed, count), 1):
        say(screen, _head(number, count, one.id))
        say(screen, one.text)
        answer = read_line("> ")
        if answer is None or answer == "q":
            break
        asked += 1
        if one.is_right(answer):
            right += 1
            say(screen, _styled(_("✓ right"), "green"))
        else:
            say(screen, _styled(_("✗ not quite") if quiz.readings(answer) else _("✗ no number"), "red"))
        say(screen, f"  {one.way} {_(one.unit)}".rstrip())
        screen.print()
    sentence = _("{right} of {asked} right; `--seed {seed}` draws the same again.")
    click.echo(sentence.format(right=right, asked=asked, seed=seed))


def _styled(text: str, style: str) -> "Text":
    from rich.text import Text  # noqa: PLC0415 - rich is for people

    return Text(text, style=style)
