"""Reports for the tests of forms: passed, failed in several ways, broken, and with texts that attack them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parent.parent / "golden"
NASTY = "]]> <b>&amp;</b> ::error::x %0A \x1b[2J \x00 \ud800 \ufffe 中文 \u202e{}"
SOURCE = "import torch\n\n\ndef masked_softmax(scores):\n    weights = scores\n    return weights\n"


def case(family: str, name: str, outcome: str = "passed", **more: Any) -> dict[str, Any]:
    """Return a case."""
    empty = dict.fromkeys(("kind", "message", "where", "line", "call", "only", "printed"), "")
    facts = {"id": f"{family}/{name}", "family": family, "title": name, "about": "", "outcome": outcome, "seconds": 0.5}
    return empty | facts | {"levels": {}, "needs": None, "remarks": []} | more


def report(*cases: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a report with these cases."""
    families: dict[str, dict[str, int]] = {}
    for one in cases:
        count = families.setdefault(one["family"], {"passed": 0, "total": 0})
        count["total"] += 1
        count["passed"] += one["outcome"] == "passed"
    wanted = [one for one in cases if one["kind"] != "machine"]
    passed = bool(wanted) and all(one["outcome"] == "passed" for one in wanted)
    document = json.loads((GOLDEN / "passed.json").read_text(encoding="utf-8"))
    return (
        document
        | {"kata": "masked-softmax", "file": "masked_softmax.py", "verdict": "passed" if passed else "failed"}
        | {"cases": list(cases), "families": families, "seed": 7, "seconds": 1234.5}
        | more
    )


def skipped(family: str, name: str, kind: str) -> dict[str, Any]:
    """Return a case that did not run."""
    return case(family, name, "skipped", kind=kind, message=f"it is {kind}")


CAUSE = {
    "id": "scale-missing",
    "title": "the scale is missing",
    "explain": "This is what you get without the scale.",
    "push": "divide",
    "line": 5,
    "lines": [5],
    "where": "masked_softmax.py:5",
    "code": "weights = scores",
    "evidence": {"case": "core/b", "call": "", "message": "first wrong entry [0]", "steps": ""},
    "cases": ["core/b"],
}
EVIDENCE = ("case", "call", "message", "steps")
PLACE = CAUSE | {
    "id": "located",
    "title": "",
    "explain": "",
    "push": "",
    "line": 6,
    "evidence": {"case": "mask/a", "call": "", "message": "no answer within 10 s", "steps": "Right up to line 5."},
    "cases": ["mask/a"],
}
PASSED = report(*(case(family, "a") for family in ("core", "mask", "dtype", "grad", "device", "contract", "cost")))
FAILED = report(
    case("core", "a"),
    case("core", "b", "failed", message="first wrong entry [0]", where="masked_softmax.py:5", line="weights = scores"),
    case("mask", "a", "timeout", message="no answer within 10 s", where="masked_softmax.py:6", line="return weights"),
    case("dtype", "a[float16]"),
    skipped("dtype", "b[float16]", "unasked"),
    case("contract", "a"),
    causes=[CAUSE, PLACE],
)
UNLOADABLE = report(message="masked_softmax.py:3: SyntaxError: '(' was never closed\n    return (\n           ^")
BROKEN = report(verdict="error", message="the judge ended without a report", seed=None)
NASTY_ONE = report(
    case("core", NASTY, "failed", message=f"{NASTY}\n{NASTY}", where="masked_softmax.py:5", line=NASTY, call=NASTY),
    case("cost", "a", "crashed", message=NASTY, only=NASTY, printed=NASTY),
    file=f"{NASTY}.py",
    causes=[
        CAUSE | {"title": NASTY, "explain": NASTY, "push": NASTY},
        PLACE | {"evidence": dict.fromkeys(EVIDENCE, NASTY)},
    ],
)
EVERY = {"passed": PASSED, "failed": FAILED, "unloadable": UNLOADABLE, "nasty": NASTY_ONE}
