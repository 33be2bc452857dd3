"""The verdict as a learner reads it."""

import io

import pytest
from rich.console import Console

from grader.show.outcome import reason
from grader.show.verdict import verdict


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


def cause(name: str, cases: list[dict], **more) -> dict:
    """Return one cause of a report: a mistake of a name, a place, or what is merely seen."""
    first = cases[0]
    evidence = {"case": first["id"], "steps": "", "message": first["message"], "call": first["call"]}
    facts = {"id": name, "title": "", "explain": "", "push": "", "line": 0, "lines": [], "where": first["where"]}
    return facts | {"code": first["line"], "evidence": evidence, "cases": [case["id"] for case in cases]} | more


def shown(document: dict, width: int = 80, *, whole: bool = True, terminal: bool = False, full: bool = False) -> str:
    """Return what a learner would see."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, markup=False, emoji=False, force_terminal=terminal)
    verdict(console, document, whole=whole, then="what comes next", full=full)
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
    """The whole page: the mistake by its name, its line and the push; then the case that shows it."""
    texts = {"title": "the mask meets the heads", "explain": "Row b meets head b.", "push": "where are the heads?"}
    steps = "Right up to `scores` (line 28); what becomes of it is not: line 31."
    named = cause("mask-3d", [LONG, LONG], **texts)
    named["evidence"]["steps"] = steps
    assert shown(report([case("core", "smallest"), LONG], causes=[named])) == (
        "✗ mha: 1 of 2 cases pass\n"
        "  ✓ core  ✗ mask 0/1\n"
        "\n"
        "✗ the mask meets the heads                                             mha.py:31\n"
        "    > scores = scores.masked_fill(~mask, -1e9)\n"
        "    Row b meets head b.\n"
        "    → where are the heads?\n"
        "    Right up to `scores` (line 28); what becomes of it is not: line 31.\n"
        "    seen in mask · three dimensional mask is per batch and 1 more case\n"
        "    MultiHeadAttention(d_model=12, n_heads=3)(q (3, 5, 12), k (3, 5, 12), v (3,\n"
        "    5, 12), mask (3, 5, 5) bool)\n"
        "    first wrong entry [0, 1, 0]: expected 0.2187, got -0.4410; largest error\n"
        "    0.91, tolerance 1e-05\n"
        "\n"
        "Printed during mask · three dimensional mask is per batch:\n"
        "    shape (3, 3, 5, 5)\n"
        "\n"
        "seed 5 · 0.21 s\n"
        "→ `kata hint mha` goes a step further.\n"
    )


def test_the_first_cause_is_told_in_full_and_the_others_briefly():
    """What is known of the second: line, words and push, while there is room; of those after it a line each."""
    cases = [LONG | {"id": f"mask/{number}", "title": f"case {number}"} for number in range(9)]
    told = [cause(f"m{n}", [one], title=f"mistake {n}", explain="Why.", push="how?") for n, one in enumerate(cases)]
    page = shown(report(cases, causes=told))
    assert "mha: 0 of 9 cases pass · 9 causes" in page
    assert page.count("first wrong entry") == 1
    assert page.count("    → how?") == 2
    assert "✗ mistake 2  mha.py:31" in page
    assert "and 3 more causes: --full" in page
    whole = shown(report(cases, causes=told), full=True)
    assert whole.count("    → how?") == 9
    assert all(f"✗ mask  case {number}" in whole for number in range(9))


def test_a_long_title_is_cut_and_its_place_is_not():
    """The line to look at is worth more than the last words of what is wrong there."""
    cases = [case("core", f"case {number}", "failed") for number in range(7)]
    told = [cause(f"mistake-{n}", [one], where="mha.py:24", title="much " * 20) for n, one in enumerate(cases)]
    page = shown(report(cases, causes=told), 60)
    assert sum(line.startswith("✗ much") and line.endswith("…  mha.py:24") for line in page.splitlines()) >= 3


@pytest.mark.parametrize("width", [80, 120])
def test_no_failure_takes_more_than_forty_lines(width):
    """Whatever fails in however many ways, with long sentences, prints and reasons."""
    long = LONG | {"message": "wrong " * 60, "about": "why " * 60, "printed": "line\n" * 100, "call": "f(x) " * 60}
    cases = [long | {"id": f"mask/{number}", "title": f"case {number} " * 9} for number in range(60)]
    cases += [case("core", f"left {n}", "skipped", message=f"reason {n} " * 30) for n in range(9)]
    told = [
        cause("seen" if n % 2 else f"m{n}", [one], explain="Why. " * 90, push="how? " * 60)
        for n, one in enumerate(cases[:60])
    ]
    for one in told:
        one["evidence"]["steps"] = "Right up to there. " * 30
    page = shown(report(cases, causes=told, printed="line\n" * 100), width)
    assert len(page.splitlines()) <= 40


def test_a_simple_failure_takes_ten_lines():
    """What is merely seen is told with its case."""
    one = case(
        "contract", "no ValueError", "failed", message="expected ValueError, but nothing was raised", call="f(3)"
    )
    page = shown(report([case("core", "smallest"), one], causes=[cause("seen", [one])]))
    assert len(page.splitlines()) <= 10


def test_a_report_without_causes_shows_its_cases():
    """An old report, or that of a debug round: what fails in one way at one line is one cause."""
    cases = [case("core", "smallest", "failed", message="so"), case("grad", "flows", "failed", message="not so")]
    page = shown(report(cases))
    assert "✗ core  smallest" in page
    assert "✗ grad  flows" in page
    assert "2 causes" in page


def test_a_search_that_failed_is_told_and_its_cases_are_shown():
    """The verdict stands, the cases are there, and nothing is hidden."""
    document = report([LONG], causes=[], unexplained="RuntimeError: no way (match.py:3)")
    page = " ".join(shown(document).split())
    assert "three dimensional mask is per batch" in page
    assert "The search for the cause failed (RuntimeError: no way (match.py:3)); the verdict stands." in page


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


def test_the_reason_in_one_line_is_the_first_cause():
    """Of several causes the page's first one stands for them, also before a mistake that fewer cases show."""
    cases = [case("core", "smallest", "failed", where="a.py:3"), case("contract", "refusals", "failed")]
    causes = [cause("located", cases[:1], title="a default"), cause("assert", cases[1:], title="an assert")]
    named = [{"id": "assert", "title": "an assert"}]
    assert reason(report(cases, causes=causes, mistakes=named)) == "a default"
    assert reason(report(cases, causes=causes[1:], mistakes=named)) == "an assert"
    assert reason(report(cases, causes=[cause("seen", cases, title="smallest")])) == "core: smallest a.py:3"


def test_skipped_cases_have_a_reason():
    """A skipped family says why, beside its count."""
    cases = [case("core", "smallest"), case("device", "smallest", "skipped", message="no simulated device: too old")]
    assert "1 skipped: no simulated device: too old" in shown(report(cases, verdict="passed"))
    page = shown(report([*cases, LONG]))
    assert "○ device 0/1" in page
    assert "1 skipped: no simulated device" in page


@pytest.mark.parametrize("width", [60, 80])
def test_counts_at_the_end_of_a_sentence_are_not_cut(width):
    """A reason for skipped cases, and where a cause shows, may go on in a second line."""
    first = LONG | {"title": "one query, more queries than keys, and a mask with a row that hides them all"}
    skipped = case("device", "smallest", "skipped", message="only repeats other cases, and the answer has failed there")
    found = cause("named", [first, case("core", "x", "failed")], title="a name", explain="It is so.")
    page = " ".join(shown(report([skipped, first, case("core", "x", "failed")], causes=[found]), width).split())
    assert "and the answer has failed there" in page
    assert "and 1 more case" in page


def test_the_sandbox_is_mentioned_only_where_it_has_gaps():
    """A complete sandbox needs no words."""
    assert "sandbox" not in shown(report([LONG]))
    assert "The sandbox is not complete on this machine (can fork);" in shown(report([LONG], sandbox_gaps=["can fork"]))


def test_what_was_printed_is_capped():
    """A hundred lines of prints leave the verdict readable."""
    cases = [LONG | {"printed": "line\n" * 100}, case("core", "smallest", printed="more")]
    output = shown(report(cases, printed="while loading"))
    assert "Printed while the file was loaded:\n    while loading" in output
    assert output.count("\n    line") == 2
    assert "… and 98 more lines" in output
    assert shown(report(cases), full=True).count("\n    line") == 12
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
    """Why cases were skipped stands below the families, once for all of them."""
    left = {"outcome": "skipped", "message": "your code ends its process"}
    cases = [
        case("core", "one", "failed"),
        *(case(family, title, **left) for family in ("core", "mask", "grad") for title in ("a", "b")),
    ]
    page = shown(report(cases))
    assert page.count("6 skipped: your code ends its process") == 1
