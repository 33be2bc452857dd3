"""A verdict as a page of HTML, to keep or to send: it loads and runs nothing, and what a learner wrote is text."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any, Final

from grader.language import _, current, plural
from grader.show import causes
from grader.show.causes import FAILURES
from grader.show.verdict import fraction, head, skipped
from grader.text import clean

Report = dict[str, Any]
Case = dict[str, Any]

MARKS: Final = {"passed": "✓", "failed": "✗", "error": "!"}
LANGUAGES: Final = {"en": "en", "zh": "zh-Hans"}
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c1f24; --dim: #5a616b; --paper: #fff; --card: #f4f5f7; --edge: #d5d9df;
  --good: #1a6b34; --bad: #b3261e; --warn: #7a5200; --code: #0b5394; --mark: #fff0c2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --dim: #a4abb5; --paper: #16181c; --card: #20242a;
  --edge: #3a4049; --good: #7bd88f; --bad: #ff8a80; --warn: #f0c060; --code: #8ab8f0; --mark: #4a3d10; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 52rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 0 0 .3rem; }
p { margin: .3rem 0; }
.passed { color: var(--good); } .failed { color: var(--bad); } .error, .warn { color: var(--warn); }
.dim { color: var(--dim); } .where { color: var(--code); font-family: ui-monospace, monospace; }
.push { font-weight: 600; }
ul.families { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; list-style: none; }
section { background: var(--card); border: 1px solid var(--edge); border-radius: .4rem; padding: .8rem;
  margin: .8rem 0; }
pre { background: var(--card); border: 1px solid var(--edge); border-radius: .3rem; padding: .5rem; margin: .4rem 0;
  font: .85rem/1.45 ui-monospace, monospace; overflow-x: auto; overflow-wrap: normal; }
section pre { background: var(--paper); }
mark { background: var(--mark); color: inherit; }
summary { cursor: pointer; padding: .3rem 0; }
"""


def page(report: Report, source: str = "", *, whole: bool = True) -> str:
    """Return the page of a report in the reader's language; ``source`` is the file, which it shows with its lines."""
    verdict = report["verdict"]
    body = "\n".join(filter(None, (*_verdict(report, whole=whole), _source(report, source), *_footer(report))))
    return f"""<!doctype html>
<html lang="{LANGUAGES[current()]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{MARKS[verdict]} {_text(report["kata"])}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def _verdict(report: Report, *, whole: bool) -> Iterator[str]:
    verdict = report["verdict"]
    mark = f'<span aria-hidden="true">{MARKS[verdict]}</span>'
    yield f'<h1 class="{verdict}">{mark} {_text(head(report, whole=whole))}</h1>'
    if verdict == "error":
        yield _paragraph(_("The grader itself failed, not your answer."))
    yield _block(report["message"])
    yield _families(report)
    for reason in skipped(report["cases"]):
        yield _paragraph(reason, "warn")
    cases = {case["id"]: case for case in report["cases"]}
    facts = [fact["explain"] for fact in report["facts"]]
    for at, cause in enumerate(causes.of(report)):
        yield _cause(cause, cases, facts if at == 0 else [])
    failing = [case for case in report["cases"] if case["outcome"] in FAILURES]
    if failing:
        count = len(failing)
        title = plural("{count} failing case", "{count} failing cases", count).format(count=count)
        yield _folded(title, "\n".join(map(_case, failing)))
    printed = [(_("Printed while the file was loaded:"), report["printed"])]
    heading = _("Printed during {family} · {title}:")
    printed += [
        (heading.format(family=case["family"], title=case["title"]), case["printed"]) for case in report["cases"]
    ]
    for title, text in [pair for pair in printed if pair[1]][:4]:
        yield _folded(title, _block(text))


def _families(report: Report) -> str:
    items = []
    for name, counts in report["families"].items():
        cases = [case for case in report["cases"] if case["family"] == name]
        failed = any(case["outcome"] in FAILURES for case in cases)
        mark, style = (
            ("✗", "failed") if failed else ("✓", "passed") if counts["passed"] == counts["total"] else ("○", "warn")
        )
        items.append(
            f'<li><span class="{style}">{mark}</span> {_text(name)} <span class="dim">{fraction(cases)}</span></li>'
        )
    return f'<ul class="families">{"".join(items)}</ul>' if items else ""


def _cause(cause: dict[str, Any], cases: dict[str, Case], facts: list[str]) -> str:
    evidence = cause["evidence"]
    case = cases.get(evidence["case"], {})
    parts = [
        f"<h2>{_text(causes.title_of(cause, case))}</h2>",
        _paragraph(cause["where"], "where"),
        _block(cause["code"]),
        _paragraph(cause["explain"]),
        _paragraph(f"→ {cause['push']}" if cause["push"] else "", "push"),
        _paragraph(evidence["steps"]),
        _paragraph(causes.where_seen(cause, case), "dim"),
        _paragraph(evidence["call"], "dim"),
        _paragraph(evidence["message"]),
        _paragraph(case.get("only", "")),
        *(_paragraph(fact) for fact in facts),
    ]
    return f"<section>\n{chr(10).join(filter(None, parts))}\n</section>"


def _case(case: Case) -> str:
    title = f'<span class="failed">{_text(case["family"])}</span> {_text(case["title"])}'
    where = f' <span class="where">{_text(case["where"])}</span>' if case["where"] else ""
    return f"<p>{title}{where}</p>\n" + _paragraph(case["message"], "dim")


def _source(report: Report, source: str) -> str:
    if not source.strip():
        return ""
    blamed = {line for cause in causes.of(report) for line in (*cause["lines"], cause["line"])}
    lines = []
    for number, line in enumerate(source.splitlines(), 1):
        shown = f"{number:4}  {_text(line)}"
        lines.append(f"<mark>{shown}</mark>" if number in blamed else shown)
    return _folded(report["file"], f"<pre>{chr(10).join(lines)}</pre>")


def _footer(report: Report) -> Iterator[str]:
    if report["sandbox_gaps"]:
        sentence = _("The sandbox is not complete on this machine ({gaps}); `kata doctor` explains.")
        yield _paragraph(sentence.format(gaps=_("; ").join(report["sandbox_gaps"])), "warn")
    facts = [] if report["seed"] is None else [_("seed {seed} · {seconds} s")]
    known = [fact.format(seed=report["seed"], seconds=f"{report['seconds']:.2g}") for fact in facts]
    known += [f"{name} {version}" for name, version in report["versions"].items() if version]
    yield _paragraph(" · ".join(known), "dim")


def _folded(title: str, body: str) -> str:
    return f"<details>\n<summary>{_text(title)}</summary>\n{body}\n</details>"


def _block(text: str) -> str:
    return f"<pre>{_text(text)}</pre>" if text.strip() else ""


def _paragraph(text: str, style: str = "") -> str:
    kind = f' class="{style}"' if style else ""
    return f"<p{kind}>{_text(text)}</p>" if text.strip() else ""


def _text(text: str) -> str:
    return escape(clean(text, 20_000))
