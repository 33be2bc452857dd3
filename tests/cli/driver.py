"""The tool with made-up katas and a made-up grader: imported by the tests, or run as a program.

    python driver.py CONTENT ARGUMENTS ...

What the made-up grader does stands in the answer: pass, fail, error, bug, wait, interrupt.
"""

# ruff: noqa: RUF001 - Chinese punctuation is meant
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import grader.client
from grader import catalog
from grader.errors import GraderFailed

KATA_TOML = """\
title = {{ en = "{en}", zh = "{zh}" }}
track = {track}
order = {order}
difficulty = 2
minutes = 15
entry = ["{entry}"]
needs = {needs}
tags = ["attention"]
families = ["core", "mask"]
forbidden = []
allowed = []
"""

KATAS = {
    "first-one": {"en": "First one", "zh": "第一题", "track": 1, "order": 10, "entry": "first_one", "needs": "[]"},
    "second": {"en": "Second", "zh": "第二题", "track": 1, "order": 20, "entry": "second", "needs": '["first-one"]'},
    "third": {"en": "Third", "zh": "第三题", "track": 2, "order": 10, "entry": "third", "needs": '["second"]'},
}

HINTS = """\
# Hints

## 1 · Where to start

Look.

```
## no rung
```

## 2 · Further

Think.

## 3 · Nearly

Type.
"""

TALK = """\
# Follow-up questions

**Why?** <!-- why -->
Because of the cache.

**How large is it?** <!-- how-large -->
Twice as large as *half* of it.
"""
TALK_ZH = """\
# 追问

**为什么？** <!-- why -->
因为缓存。

**有多大？** <!-- how-large -->
一半的*两倍*。
"""

# The reference of the kata that has a bank of mistakes, for debug rounds.
REFERENCE = '''\
"""Three times, and six: total = 3 x + 6."""

import math


def third(x):
    """Return 3 x + 6."""
    total = 3 * x  # three times
    # six, as a product
    rest = math.prod([2, 3])
    return total + rest
'''

MISTAKES = """\
[[mistake]]
id = "doubled"
family = "core"
edits = [{ find = "total = 3 * x", replace = "total = 2 * x" }]
title = { en = "taken twice", zh = "只乘了二" }
explain = { en = "This is what you get when it is taken twice.", zh = "只乘了两倍就会这样。" }
nudge = { en = "how often?", zh = "乘几倍" }

[[mistake]]
id = "five"
family = "core"
edits = [{ find = "math.prod([2, 3])", replace = "5" }]
title = { en = "five added", zh = "加了五" }
explain = { en = "This is what you get when five is added.", zh = "加五就会这样。" }
nudge = { en = "what is added?", zh = "加的是几" }

[[mistake]]
id = "seen-by-the-device-family-alone"
family = "device"
edits = [{ find = "return total + rest", replace = "return rest + total" }]
title = { en = "turned round", zh = "顺序反了" }
explain = { en = "Turned round.", zh = "顺序反了。" }
nudge = { en = "which way?", zh = "什么顺序" }
"""

PROBE = {
    "python": "3.11.7",
    "torch": "2.13.0",
    "model": "fork",
    "layers": ["process", "rlimits"],
    "gaps": ["can read files outside the allow-list"],
    "landlock_abi": 0,
    "devices": ["cpu"],
    "simulated_device": "",
    "seconds": 1.25,
}


def write_content(root: Path) -> Path:
    """Write three made-up katas below `root`, and the rules."""
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "rules.md").write_text("# Rules\n\nNothing is modified.\n", encoding="utf-8")
    (root / "docs" / "rules.zh.md").write_text("# 规则\n\n什么都不改动。\n", encoding="utf-8")
    for kata_id, values in KATAS.items():
        folder = root / "katas" / kata_id
        folder.mkdir(parents=True)
        (folder / "kata.toml").write_text(KATA_TOML.format(**values), encoding="utf-8")
        stub = f'def {values["entry"]}():\n    raise NotImplementedError("your turn")\n'
        (folder / "stub.py").write_text(stub, encoding="utf-8")
        (folder / "brief.md").write_text(f"# {values['en']}\n\nThe task.\n", encoding="utf-8")
        (folder / "brief.zh.md").write_text(f"# {values['zh']}\n\n题目。\n", encoding="utf-8")
        (folder / "hints.md").write_text(HINTS, encoding="utf-8")
        (folder / "talk.md").write_text(TALK, encoding="utf-8")
        (folder / "talk.zh.md").write_text(TALK_ZH, encoding="utf-8")
        solution = root / "solutions" / kata_id
        solution.mkdir(parents=True)
        reference = REFERENCE if kata_id == "third" else f"def {values['entry']}():\n    return 42\n"
        (solution / "reference.py").write_text(reference, encoding="utf-8")
        (solution / "mistakes.toml").write_text(MISTAKES if kata_id == "third" else "", encoding="utf-8")
    return root


def case(family: str, name: str, outcome: str = "passed", **more: Any) -> dict[str, Any]:
    """Return one case of a report."""
    facts = {"id": f"{family}/{name}", "family": family, "title": name.replace("_", " "), "about": "Why it is asked."}
    facts |= {
        "outcome": outcome,
        "message": "",
        "where": "",
        "line": "",
        "call": "",
        "remarks": [],
        "printed": "",
        "seconds": 0.01,
    }
    return facts | more


def report(cases: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Return a report with these cases."""
    families: dict[str, dict[str, int]] = {}
    for item in cases:
        counts = families.setdefault(item["family"], {"passed": 0, "total": 0})
        counts["total"] += 1
        counts["passed"] += item["outcome"] == "passed"
    failed = any(item["outcome"] not in {"passed", "skipped"} for item in cases)
    return {
        "schema": 1,
        "kata": "second",
        "file": "workspace/second.py",
        "verdict": "failed" if failed or not cases else "passed",
        "message": "",
        "cases": cases,
        "causes": [],
        "mistakes": [],
        "facts": [],
        "unexplained": "",
        "families": families,
        "printed": "",
        "seed": 17,
        "seconds": 0.21,
        "spent": {},
        "sandbox": ["process"],
        "sandbox_gaps": [],
        "device": "cpu",
        "repro": "",
        "versions": {"kata": "0.1.0", "torch": "2.13.0", "python": "3.11.7"},
        **more,
    }


PASSING = [case("core", "smallest"), case("mask", "rows")]
FAILING = [
    case("core", "smallest"),
    case(
        "mask",
        "three_dimensional_mask",
        "failed",
        message="first wrong entry [0, 1, 0]: expected 0.2187, got -0.4410; largest error 0.91, tolerance 1e-05",
        where="second.py:31",
        line="scores = scores.masked_fill(~mask, -1e9)",
        call="second(q (3, 5, 12), mask (3, 5, 5) bool)",
        printed="so far\n",
    ),
    case("mask", "rows", "timeout", message="no answer within 10 s", where="second.py:12"),
]
MISTAKE = {
    "id": "mask-over-heads",
    "title": "mask over heads",
    "explain": "This is what you get when a 3-D mask is broadcast over heads.",
    "nudge": "unsqueeze the head dimension",
    "hint": 2,
    "cases": ["mask/three_dimensional_mask"],
}
CAUSE = {
    "id": "mask-over-heads",
    "title": "mask over heads",
    "explain": "This is what you get when a 3-D mask is broadcast over heads.",
    "push": "unsqueeze the head dimension",
    "line": 2,
    "lines": [2],
    "where": "second.py:2",
    "code": "scores = scores.masked_fill(~mask, -1e9)",
    "evidence": {"case": "mask/three_dimensional_mask", "call": "", "message": "first wrong entry", "steps": ""},
    "cases": ["mask/three_dimensional_mask", "mask/rows"],
}


@dataclass(frozen=True)
class Request:
    """What the tool asks of a session."""

    kata: str
    source: str
    filename: str
    seed: int | None = None
    case: str = ""
    device: str = ""
    lang: str = "en"


class Cancelled(Exception):  # noqa: N818 - as the session calls it
    """A grading was cancelled."""


GRADED: list[Request] = []
"""All that was asked of it."""


class Session:
    """A grader that obeys the answer."""

    def __init__(self) -> None:
        self._running: set[threading.Event] = set()

    def prepare(self, kata: str, lang: str) -> None:
        """Get ready, which takes no time here."""

    def cancel(self) -> None:
        """End the gradings that run."""
        for running in list(self._running):
            running.set()

    def grade(
        self, request: Request, on_event: Callable[[dict[str, Any]], None] | None = None, *, many: bool = False
    ) -> dict[str, Any]:
        """Do what the answer says."""
        del many
        GRADED.append(request)
        _perhaps_be_killed("grade")
        on_event = on_event or (lambda _event: None)
        if "error" in request.source:
            raise GraderFailed("the judge ended without a report")
        if "bug" in request.source:
            raise ZeroDivisionError("division by zero")
        if "interrupt" in request.source:
            raise KeyboardInterrupt
        name = Path(request.filename).name
        cases = [
            item | {"where": item["where"].replace("second.py", name)}
            for item in (PASSING if "pass" in request.source else FAILING)
        ]
        cancelled = threading.Event()
        self._running.add(cancelled)
        on_event({"event": "plan", "total": len(cases)})
        for done, item in enumerate(cases, 1):
            on_event({"event": "progress", "done": done, "failed": 0, "title": item["title"]})
            if "wait" in request.source:
                cancelled.wait(60)
            if cancelled.is_set():
                raise Cancelled
        self._running.remove(cancelled)
        found = report(cases, kata=request.kata, file=request.filename, seed=request.seed or 17)
        if found["verdict"] == "failed":
            on_event({"event": "explaining", "failed": sum(item["outcome"] == "failed" for item in cases)})
            found |= {
                "causes": [CAUSE] if "cause" in request.source else [],
                "mistakes": [MISTAKE],
                "repro": "print('the failing call')\n",
            }
        return found

    def probe(self, lang: str = "en") -> dict[str, Any]:
        """Return what a machine with half a sandbox would say."""
        del lang
        return PROBE


def _perhaps_be_killed(moment: str) -> None:
    if os.environ.get("KATA_TEST_KILL_AT") == moment:
        os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def open_session(**_options: bool) -> Iterator[Session]:
    """Stand in for session.open."""
    _perhaps_be_killed("open")
    yield Session()


def made_up_session() -> ModuleType:
    """Return a module that stands in for grader.client.session."""
    module = ModuleType("grader.client.session")
    module.Request = Request
    module.Cancelled = Cancelled
    module.Session = Session
    module.open = open_session
    return module


def run() -> None:
    """Run the tool with the made-up parts in place."""
    root = Path(sys.argv[1])
    catalog.content_root = lambda: root
    module = made_up_session()
    sys.modules["grader.client.session"] = module
    grader.client.session = module
    from grader.cli import main  # noqa: PLC0415 - after the made-up parts are in place

    main(sys.argv[2:], prog_name="kata")


if __name__ == "__main__":
    run()
