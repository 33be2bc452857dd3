"""What `kata doctor` found on this machine, in words that need no knowledge of kernels."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.language import _, plural
from grader.show.colours import NOTE
from grader.text import cells, clean, lines

INDENT = 4


def layers() -> dict[str, tuple[str, str]]:
    """Return, for each layer of the sandbox, what it does and what its absence means."""
    return {
        "process": (
            _("an answer runs in a process of its own, in an empty folder, with an empty environment"),
            _("an answer shares more with the grader than it should"),
        ),
        "rlimits": (
            _("memory, processes, file sizes and open files are limited"),
            _("an answer that eats memory or starts processes can slow this machine down"),
        ),
        "landlock": (
            _("an answer cannot read the solutions, write outside its folder or open a connection"),
            _("an answer that goes looking can read your files and the solutions; honest answers are graded as well"),
        ),
        "seccomp": (
            _("an answer cannot start programs, open sockets or change permissions"),
            _("an answer can start programs and open sockets until its time is up"),
        ),
    }


def findings(console: Console, found: dict[str, Any]) -> None:
    """Show the findings of `kata doctor`, the JSON document of `kata doctor --json`."""
    versions = _("kata {kata} · Python {python}").format(kata=found["kata"], python=found["python"])
    console.print(Text(versions, style="bold"))
    if found["error"]:
        _line(console, "✗", _("No answer can be graded here: {problem}").format(problem=clean(found["error"])))
    else:
        _grading(console, found["grading"])
    console.print()
    state = found["state"]
    if state["problems"]:
        problems = clean(_("; ").join(state["problems"]))
        _line(console, "✗", _("history: {path}: {problems}").format(path=clean(state["path"]), problems=problems))
    else:
        count = state["attempts"]
        sentence = plural("history: {path}, sound, {count} attempt", "history: {path}, sound, {count} attempts", count)
        _line(console, "✓", sentence.format(path=clean(state["path"]), count=count))
    workspace = found["workspace"]
    if workspace["problem"]:
        sentence = _("workspace: {path}: {problem}")
        _line(console, "✗", sentence.format(path=clean(workspace["path"]), problem=clean(workspace["problem"])))
    else:
        there = (
            _("workspace: {path}") if workspace["exists"] else _("workspace: {path}, made by the first `kata start`")
        )
        _line(console, "✓", there.format(path=clean(workspace["path"])))


def _grading(console: Console, probe: dict[str, Any]) -> None:
    _line(console, "✓", _("torch {version}").format(version=clean(probe["torch"])))
    _line(console, "✓", _("devices: {names}").format(names=clean(_(", ").join(probe["devices"]))))
    if reason := probe.get("simulated_device"):
        sentence = _("simulated second device: not here, its cases are skipped: {reason}")
        _line(console, "○", sentence.format(reason=clean(reason)))
    elif "simulated_device" in probe:
        _line(console, "✓", _("simulated second device: works"))
    models = {
        "fork": _("answers start from a server that has torch loaded"),
        "fresh": _("each answer starts a Python of its own: slower, and as safe"),
    }
    if probe.get("model") in models:
        _line(console, "✓", models[probe["model"]])
    if "seconds" in probe:
        seconds = f"{probe['seconds']:.2g}"
        _line(console, "✓", _("a sandbox was ready after {seconds} s").format(seconds=seconds))
    console.print()
    console.print(Text(_("Sandbox"), style="bold"))
    known = layers()
    for name, (holds, lacks) in known.items():
        held = name in probe["layers"]
        _line(
            console,
            "✓" if held else "○",
            _("{name}: {sentence}").format(name=name, sentence=holds if held else _("not here: ") + lacks),
        )
    for name in probe["layers"]:
        if name not in known:
            _line(console, "✓", clean(name))
    for gap in probe["gaps"]:
        _line(console, "○", _("the self-test could: {gap}").format(gap=clean(gap)))


def _line(console: Console, mark: str, sentence: str) -> None:
    styles = {"✓": "green", "○": NOTE, "✗": "red"}
    line = Table.grid(padding=(0, 1))
    line.add_column()
    line.add_column()
    line.add_column(overflow="fold")
    if cells(sentence) > len(sentence):  # between Chinese characters a line may end anywhere
        sentence = "\n".join(lines(sentence, console.width - INDENT))
    line.add_row("", Text(mark, style=styles[mark]), sentence)
    console.print(line)
