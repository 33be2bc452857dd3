"""The course: the katas by track, what is passed and what comes next."""

from collections.abc import Mapping

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from grader.catalog import TRACKS, Kata, debug_round
from grader.history import Summary
from grader.language import _
from grader.show.colours import NOTE
from grader.show.console import next_step

WIDE = 76
MEDIUM = 56
FOR_MINUTES = 17
"""Columns of the mark, the minutes and the gaps between."""
FOR_NEEDS = 45
"""The same with what most katas build on."""
FOR_LEVEL = 9
LEVELS = 90
"""From here on there is room for the level besides."""
NOTHING = Summary()


def course(
    console: Console,
    katas: Mapping[str, Kata],
    done: Mapping[str, Summary],
    lang: str,
    *,
    current: str | None,
    then: Kata | None,
    debugging: Mapping[str, str],
) -> None:
    """Show katas by track, with a mark for the passed, the begun and the current one."""
    # Lines put together by hand: a table of rich costs more time than all the rest of this command.
    names = max(map(len, katas), default=0)
    longest = max((cell_len(kata.title[lang]) for kata in katas.values()), default=0)
    titles = min(longest, _for_titles(console.width, names))
    page = Text()
    for track, title in TRACKS.items():
        members = [kata for kata in katas.values() if kata.track == track]
        if not members:
            continue
        page.append(f"{track} · {title[lang]}\n", "bold")
        for kata in members:
            line = mark(done.get(kata.id, NOTHING), here=kata.id == current)
            line.append(f"  {kata.id:{names}}", "bold" if kata.id == current else "")
            if titles:
                shown = Text(f"  {kata.title[lang]}")
                shown.truncate(titles + 2, overflow="ellipsis", pad=True)
                line.append_text(shown)
            line.append(f"  {_('{count} min').format(count=kata.minutes):>7}")
            if console.width >= WIDE:
                level = f"  {_('level {level}').format(level=kata.difficulty)}" if console.width >= LEVELS else ""
                line.append(f"{level}  ")
                room = console.width - cell_len(line.plain)
                line.append(_state(done.get(kata.id, NOTHING), room) or _needs(kata, done, room))
            line.rstrip()
            page.append_text(line)
            page.append("\n")
        page.append("\n")
    passed = sum(done[kata_id].passed for kata_id in katas if kata_id in done)
    page.append(_("{passed} of {total} passed").format(passed=passed, total=len(katas)))
    console.print(page, no_wrap=True, overflow="ignore", crop=False)
    rounds = [(kata_id, debugging.get(debug_round(kata_id))) for kata_id in katas]
    if begun := ", ".join(f"{kata_id} ({debug_state(state)})" for kata_id, state in rounds if state):
        console.print(_("debug rounds: {rounds}").format(rounds=begun))
    if then:
        next_step(console, _("`kata start {kata}`").format(kata=then.id))


def debug_state(state: str) -> str:
    """Return how far a debug round is, in words."""
    return {"open": _("open"), "repaired": _("repaired"), "given up": _("given up")}[state]


def mark(summary: Summary, *, here: bool) -> Text:
    """Return two columns: whether this kata is the current one, and whether it is passed or begun."""
    pointer = Text("▸" if here else " ", style="magenta")
    if summary.passed:
        return pointer.append("✓", "green")
    return pointer.append("○" if summary.attempts else " ", NOTE)


def _for_titles(width: int, names: int) -> int:
    """Return how many columns are left for titles beside all else that a line has."""
    if width >= WIDE:
        return max(12, width - names - FOR_NEEDS - (FOR_LEVEL if width >= LEVELS else 0))
    return max(10, width - names - FOR_MINUTES) if width >= MEDIUM else 0


def _needs(kata: Kata, done: Mapping[str, Summary], room: int) -> str:
    """Name the katas that it builds on and that are not passed yet, as many as there is room for."""
    before = [name for name in kata.needs if not done.get(name, NOTHING).passed]
    for count in range(len(before), 0, -1):
        names = [*before[:count], *(["…"] if before[count:] else [])]
        said = _("after {katas}").format(katas=_(", ").join(names))
        if cell_len(said) <= room:
            return said
    return ""


def _state(summary: Summary, room: int) -> str:
    said = ""
    if summary.passed:
        said = _("after giving up") if summary.gave_up else _("passed")
    elif summary.gave_up:
        said = _("gave up")
    elif summary.best[1]:
        said = _("best {passed}/{total}").format(passed=summary.best[0], total=summary.best[1])
    return said if cell_len(said) <= room else ""
