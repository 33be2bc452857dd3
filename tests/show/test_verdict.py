"""The verdict as a learner reads it."""

import io

import pytest
from rich.console import Console

from grader.show.verdict import MAX_LINES, verdict


def case(family: str, title: str, outcome: str = "passed", **more) -> dict:
    """Return one case of a report."""
    facts = {
        "id": f"{family}/{title}",
        "family": family,
        "title": title,
        "outcome": outcome,
        "about": "",
        "message": "",
    }
    return facts | {"where": "", "line": "", "call": "", "printed": "", "seconds": 0.0} | more


def report(cases: list[dict], **more) -> dict:
    """Return a report with these cases."""
    families = {}
    for item in cases:
        counts = families.setdefault(item["family"], {"passed": 0, "total": 0})
        counts["total"] += 1
        counts["passed"] += item["outcome"] == "passed"
    facts = {"kata": "mha", "verdict": "failed", "message": "", "cases": cases, "families": families, "mistakes": []}
    return facts | {"printed": "", "seed": 5, "seconds": 0.2134, "sandbox_gaps": []} | more


def shown(document: dict, width: int = 80, *, whole: bool = True, terminal: bool = False) -> str:
    """Return what a learner would see."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, markup=False, emoji=False, force_terminal=terminal)
    verdict(console, document, whole=whole, then="what comes next")
    return stream.getvalue()


LONG = case(
    "mask",
    "three dimensional mask is per batch",
    "failed",
    about="B == H, where broadcasting over heads gives a plausible wrong answer.",
    message="first wrong entry [0, 1, 0]: expected 0.2187, got -0.4410; largest error 0.91, tolerance 1e-05",
    where="mha.py:31",
    line="    scores = scores.masked_fill(~mask, -1e9)",
    call="MultiHeadAttention(d_model=12, n_heads=3)(q (3, 5, 12), k (3, 5, 12), v (3, 5, 12), mask (3, 5, 5) bool)",
    printed="shape (3, 3, 5, 5)\n",
)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(width):
    """Forty columns are enough, and nothing draws a box."""
    output = shown(
        report([case("core", "smallest"), LONG, LONG | {"title": "another " * 20}], printed="x " * 200), width
    )
    assert max(len(line.rstrip()) for line in output.splitlines()) <= width
    assert not set(output) & set("│┃─━┏┓┗┛╭╮╰╯")
    words = " ".join(output.split())
    assert "first wrong entry [0, 1, 0]: expected 0.2187, got -0.4410;" in words
    assert "mha.py:31" in words


def test_a_failure_at_eighty_columns():
    """The whole page, as STYLE.md draws it."""
    mistake = {"explain": "This is what you get when ...", "nudge": "look at the heads", "cases": []}
    assert shown(report([case("core", "smallest"), LONG], mistakes=[mistake])) == (
        "✗ mha: 1 of 2 cases pass\n"
        "  ✓  core  1/1\n"
        "  ✗  mask  0/1\n"
        "\n"
        "✗ mask  three dimensional mask is per batch                            mha.py:31\n"
        "    B == H, where broadcasting over heads gives a plausible wrong answer.\n"
        "    MultiHeadAttention(d_model=12, n_heads=3)(q (3, 5, 12), k (3, 5, 12), v (3,\n"
        "    5, 12), mask (3, 5, 5) bool)\n"
        "    first wrong entry [0, 1, 0]: expected 0.2187, got -0.4410; largest error\n"
        "    0.91, tolerance 1e-05\n"
        "    > scores = scores.masked_fill(~mask, -1e9)\n"
        "    This is what you get when ...\n"
        "    → look at the heads\n"
        "\n"
        "Printed during mask · three dimensional mask is per batch:\n"
        "    shape (3, 3, 5, 5)\n"
        "\n"
        "seed 5 · 0.21 s\n"
        "→ `kata hint mha` goes a step further.\n"
    )


def test_an_explanation_stands_under_a_case_that_it_explains():
    """What no mistake explains comes first and is not explained; two in one file are both told."""
    cases = [case("core", "smallest", "failed"), case("dtype", "half", "failed"), case("grad", "flows", "failed")]
    cases = [{**one, "id": one["title"]} for one in cases]
    half = {"explain": "Half overflows.", "nudge": "where?", "cases": ["half"], "together": True}
    flow = {"explain": "Nothing flows.", "nudge": "why?", "cases": ["half"], "together": True}
    lines = [line.strip() for line in shown(report(cases, mistakes=[half, flow])).splitlines()]
    assert lines.index("✗ core  smallest") < lines.index("✗ dtype  half") < lines.index("Half overflows.")
    assert lines.index("Half overflows.") < lines.index("Nothing flows.") < lines.index("✗ grad  flows")
    assert lines.count("✗ dtype  half") == 1
    guesses = [{**half, "together": False}, {**flow, "together": False}]
    assert "Nothing flows." not in shown(report(cases, mistakes=guesses))


def test_a_file_that_does_not_load():
    """Without any case the message is the page."""
    output = shown(report([], message="mha.py:3: SyntaxError: '(' was never closed"))
    assert output.startswith("✗ mha\n    mha.py:3: SyntaxError: '(' was never closed")


def test_a_stub():
    """When nothing is written yet, one sentence says so: no table, no list of cases."""
    cases = [case("core", f"case {number}", "failed", message="your turn") for number in range(40)]
    assert shown(report(cases, message="nothing is written yet")).splitlines() == [
        "✗ mha",
        "    nothing is written yet",
        "",
        "seed 5 · 0.21 s",
        "→ `kata hint mha` goes a step further.",
    ]


def test_many_failures_are_capped():
    """Fifteen lines, then a number."""
    cases = [case("core", f"case {number}", "failed", message=f"message {number}") for number in range(40)]
    output = shown(report(cases))
    assert output.count("✗ core  case") == MAX_LINES + 1
    assert "… and 24 more" in output


def test_failures_that_all_say_the_same():
    """A stub fails in one sentence, not in forty lines."""
    cases = [case("core", f"case {number}", "failed", message="your turn: write it") for number in range(40)]
    output = shown(report(cases))
    assert output.count("your turn") == 1
    assert "The other 39 failing cases say the same." in output


def test_skipped_cases_have_a_reason():
    """A skipped family says why, beside its count."""
    cases = [case("core", "smallest"), case("device", "smallest", "skipped", message="no simulated device: too old")]
    assert "1 skipped: no simulated device: too old" in shown(report(cases, verdict="passed"))
    assert "○  device  0/1  1 skipped: no simulated device" in shown(report([*cases, LONG]))


def test_the_sandbox_is_mentioned_only_where_it_has_gaps():
    """A complete sandbox needs no words."""
    assert "sandbox" not in shown(report([LONG]))
    assert "The sandbox is not complete on this machine (can fork);" in shown(report([LONG], sandbox_gaps=["can fork"]))


def test_what_was_printed_is_capped():
    """A hundred lines of prints leave the verdict readable."""
    cases = [LONG | {"printed": "line\n" * 100}, case("core", "smallest", printed="more")]
    output = shown(report(cases, printed="while loading"))
    assert "Printed while the file was loaded:\n    while loading" in output
    assert output.count("\n    line") == 12
    assert "… and 88 more lines" in output
    assert "1 other case printed something." in output


@pytest.mark.parametrize("field", ["title", "about", "message", "where", "line", "call", "printed"])
@pytest.mark.parametrize("terminal", [False, True])
def test_a_learners_text_never_reaches_the_terminal_raw(field, terminal):
    """Escape sequences, direction marks, surrogates and markup come out as text, in the first failure and the rest."""
    nasty = "\x1b]0;owned\x07\x1b[2J\u202e[bold]\ud800\x00[/nonsense]"
    first = LONG | {field: nasty}
    output = shown(report([first, first, LONG], printed=nasty), terminal=terminal)
    output += shown(report([first], message=nasty), terminal=terminal)
    assert "owned" not in output
    assert "\x1b[2J" not in output
    assert "\u202e" not in output
    assert "[/nonsense]" in output
    output.encode()


def test_a_pass_is_short():
    """A pass says so, what was covered and what is next."""
    cases = [case("core", "smallest"), case("mask", "rows")]
    assert shown(report(cases, verdict="passed")).splitlines() == [
        "✓ mha passed: 2 cases in 0.21 s",
        "  core 1/1 · mask 1/1",
        "",
        "seed 5 · 0.21 s",
        "→ what comes next",
    ]


def test_a_pass_of_chosen_cases_is_no_pass():
    """The sentence does not say that the kata is passed."""
    cases = [case("core", "smallest"), case("mask", "rows")]
    assert shown(report(cases, verdict="passed"), whole=False).startswith("✓ mha: the 2 chosen cases pass")
    assert shown(report(cases[:1], verdict="passed"), whole=False).startswith("✓ mha: the chosen case passes")


def test_a_reason_of_several_families_stands_once():
    """Each row says how many were skipped; why, below the table; a reason of one family stands in its row."""
    left = {"outcome": "skipped", "message": "your code ends its process"}
    cases = [
        case("core", "one", "failed"),
        *(case(family, title, **left) for family in ("core", "mask", "grad") for title in ("a", "b")),
        case("device", "c", "skipped", message="there is no second device here"),
    ]
    page = "\n".join(line.rstrip() for line in shown(report(cases)).splitlines())
    assert page.count("your code ends its process") == 1
    assert "  ○  mask    0/2  2 skipped\n" in page
    assert "  ○  device  0/1  1 skipped: there is no second device here\n" in page
    assert "\n  6 skipped: your code ends its process\n\n✗ core  one" in page
