"""The judge's process: one grading from request to report."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
import socket
import time
import traceback
import warnings
from pathlib import Path
from typing import Any, Final

import pytest
import torch

from grader.catalog import find
from grader.errors import UsageError
from grader.judge import report as reports
from grader.judge.cases import CaseOutcome
from grader.judge.diagnose import diagnose
from grader.judge.failure import NOTHING_WRITTEN
from grader.judge.grading import Grading
from grader.judge.plugin import JudgePlugin
from grader.judge.repro import script
from grader.sandbox import landlock, limits
from grader.sandbox.host import Sandbox
from grader.sandbox.keeper_line import KeeperLine
from grader.sandbox.observe import SIMULATED
from grader.server import lines

PROGRESS_SECONDS: Final = 0.05
SECOND_NET_SECONDS: Final = 15
UNUSED_PLUGINS: Final = (
    *(
        "cacheprovider",
        "terminal",
        "logging",
        "doctest",
        "unittest",
        "junitxml",
        "pastebin",
        "stepwise",
        "faulthandler",
    ),
    *(
        "setuponly",
        "setupplan",
        "debugging",
        "unraisableexception",
        "threadexception",
        "warnings",
        "recwarn",
        "monkeypatch",
    ),
    *("tmpdir", "legacypath", "capture", "reports", "subtests", "pytester_assertions"),
)


class Judge:
    """Serves one request of a client."""

    def __init__(self, client: socket.socket, control: socket.socket, settings: dict[str, Any]) -> None:
        self._client, self._control = client, control
        self._request, self._call_seconds, self._model = (
            settings["request"],
            settings["call_seconds"],
            settings["model"],
        )
        self._started = self._told = time.monotonic()
        self._done = self._failed = 0

    def run(self) -> None:
        """Do what the client asks and send the answer; a fault of our own becomes a sentence, never silence."""
        try:
            document = self._probe() if self._request["op"] == "probe" else self._grade()
            self._tell({"event": "report", "report": document})
        except UsageError as error:
            self._tell({"event": "wrong-use", "message": error.message, "hint": error.hint})
        except BaseException as error:  # noqa: BLE001 - whatever it is, the client must hear of it
            text = f"{type(error).__name__}: {error}".partition("\n")[0]
            self._tell({"event": "failed", "message": text, "trace": traceback.format_exc()})

    def _tell(self, event: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            lines.send(self._client, event)

    # --- grading

    def _grade(self) -> dict[str, Any]:
        request = self._request
        kata = find(request["kata"])
        if request["device"] not in ("", "cpu", SIMULATED):
            refuse_absent_device(request["device"])
        if self._call_seconds is not None:
            kata = dataclasses.replace(kata, call_seconds=self._call_seconds)
        seed = request["seed"] if request["seed"] is not None else secrets.randbelow(2**31)
        shown = Path(request["filename"]).name
        grading = Grading(kata, request["source"], shown, seed, KeeperLine(self._control))

        def tell(case: CaseOutcome) -> None:
            self._done += 1
            self._failed += case.outcome not in ("passed", "skipped")
            if time.monotonic() > self._told + PROGRESS_SECONDS:
                self._told = time.monotonic()
                self._tell({"event": "progress", "done": self._done, "failed": self._failed, "title": case.title})

        def plan(total: int) -> None:
            self._tell({"event": "plan", "total": total})

        plugin = JudgePlugin(
            grading, request["case"], "" if request["device"] == "cpu" else request["device"], plan, tell
        )
        status = run_pytest(kata.solution / "cases.py", plugin, kata.grading_seconds)
        if not plugin.problems and status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            plugin.problems.append(f"pytest ended with {status}")
        if not plugin.problems:
            plugin.finish()
        if plugin.problems:
            raise RuntimeError(plugin.problems[0])
        document = self._document(grading, plugin.in_order)
        grading.answer.close()
        return document

    def _document(self, grading: Grading, outcomes: list[CaseOutcome]) -> dict[str, Any]:
        request = self._request
        shown = Path(request["filename"]).name
        return {
            "schema": reports.SCHEMA,
            "kata": grading.kata.id,
            "file": request["filename"],
            "verdict": reports.verdict(outcomes),
            "message": headline(grading, outcomes),
            "cases": [reports.case_document(case, request["source"], shown) for case in outcomes],
            "mistakes": [diagnosis.document(request["lang"]) for diagnosis in diagnose(grading, outcomes)],
            "families": reports.families(outcomes),
            "printed": grading.answer.load_printed,
            "seed": grading.seed,
            "seconds": round(time.monotonic() - self._started, 3),
            "sandbox": grading.answer.layers,
            "sandbox_gaps": grading.answer.gaps,
            "device": request["device"] or "cpu",
            "repro": script(outcomes, grading.kata.id, grading.seed, shown),
            "versions": reports.versions(),
        }

    # --- doctor

    def _probe(self) -> dict[str, Any]:
        keeper = KeeperLine(self._control)
        keeper.ask(cpu_seconds=10)
        sandbox = Sandbox(keeper, *keeper.take(), time.monotonic() + 60)
        sandbox.wait_ready()
        simulated, _ = sandbox.wait(sandbox.submit({"op": "device"}, {}, 30))
        sandbox.retire()
        return {
            "layers": sandbox.layers,
            "gaps": sandbox.gaps,
            "landlock_abi": landlock.abi(),
            "devices": devices(),
            "simulated_device": simulated["problem"],
            "model": self._model,
            "versions": reports.versions(),
            "seconds": round(time.monotonic() - self._started, 3),
        }


def headline(grading: Grading, outcomes: list[CaseOutcome]) -> str:
    """Return the one sentence that says it all, where there is one."""
    failure = grading.answer.load_failure
    if failure is not None:
        return (
            f"{failure.message} (line {failure.line})"
            if failure.line and "line" not in failure.message
            else failure.message
        )
    failures = [case.failure for case in outcomes if case.failure is not None]
    if failures and len(failures) == len(outcomes) and all(failure.kind == "stub" for failure in failures):
        return NOTHING_WRITTEN
    return "" if outcomes else "no case has that text in its id or title"


def refuse_absent_device(name: str) -> None:
    """Raise UsageError unless torch sees a device of this name."""
    if not any(device.startswith(name.partition(":")[0]) for device in devices()):
        seen = ", ".join(devices())
        raise UsageError(
            f"torch sees no device {name!r} here; it sees {seen}.",
            hint="Without --device the family runs on a simulated device, which needs no hardware.",
        )


def devices() -> list[str]:
    """Return the devices that torch sees here."""
    found = ["cpu"]
    if torch.cuda.is_available():
        found += [f"cuda:{i} ({torch.cuda.get_device_name(i)})" for i in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        found.append("mps")
    return found


def run_pytest(cases: Path, plugin: JudgePlugin, grading_seconds: float) -> int:
    """Run the cases of a kata under the plugin, quietly and with as little of pytest as they need."""
    arguments = [
        str(cases),
        f"--rootdir={cases.parent}",
        "--maxfail=1",  # nothing but a fault of our own fails a case here
        *("-c", os.devnull, "--noconftest", "--assert=plain", "--import-mode=importlib", "-p", "pytest_timeout"),
        *(f"--timeout={grading_seconds + SECOND_NET_SECONDS}", "--timeout-method=signal"),
        *(part for name in UNUSED_PLUGINS for part in ("-p", f"no:{name}")),
    ]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return int(pytest.main(arguments, plugins=[plugin]))


def main(settings: dict[str, Any], fds: dict[str, int]) -> None:
    """Become the judge. ``settings``: parent, request, call_seconds."""
    limits.die_with_parent()
    if os.getppid() != settings["parent"]:
        return
    torch.set_num_threads(1)
    client, control = socket.socket(fileno=fds["client"]), socket.socket(fileno=fds["control"])
    Judge(client, control, settings).run()
