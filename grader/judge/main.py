"""The judge's process: gradings from request to report."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import select
import signal
import socket
import time
import traceback
from pathlib import Path
from typing import Any, Final

import torch

from grader.catalog import FAMILIES, find
from grader.devices import is_real
from grader.errors import UsageError
from grader.judge import report as reports
from grader.judge.cases import CaseOutcome, Run
from grader.judge.desk import Desk, wanted
from grader.judge.diagnose import diagnose
from grader.judge.facts import facts
from grader.judge.failure import NOTHING_WRITTEN, text_of
from grader.judge.grading import Grading
from grader.judge.repro import script
from grader.judge.runner import Runner
from grader.language import _, current, use
from grader.sandbox import landlock, limits
from grader.sandbox.host import Sandbox
from grader.sandbox.keeper_line import PLAIN_LANE, KeeperLine
from grader.sandbox.messages import Message
from grader.sandbox.sentences import in_words
from grader.server import lines

PROGRESS_SECONDS: Final = 0.05
SECOND_NET_SECONDS: Final = 15
IDLE_SECONDS: Final = 0.3
"""So long has nobody asked for anything when there is time to clear up."""
MOST_GRADINGS: Final = 500
"""Then another judge takes over: nothing that a process gathers in its life may grow without end."""


class Stale(Exception):
    """The client has something newer to say."""


class Judge:
    """Serves one client: one request, or one after the other where the client says that more will come."""

    def __init__(self, client: socket.socket, control: socket.socket, settings: dict[str, Any]) -> None:
        self._client, self._call_seconds, self._model = client, settings["call_seconds"], settings["model"]
        self._keeper = KeeperLine(control)
        self._desk: Desk | None = None
        self._served = 0
        self._started = self._told = time.monotonic()
        self._done = self._failed = 0

    def serve(self, request: dict[str, Any] | None) -> None:
        """Do what the client asks, request after request, until it hangs up or wants no more."""
        while request is not None:
            self._do(request)
            self._served += 1
            if not request.get("keep"):
                return
            request = self._next()

    def _next(self) -> dict[str, Any] | None:
        """Wait for the next request; prepare for it meanwhile."""
        while not self._something_came():
            if self._desk is not None and self._desk.prepare_a_little():
                continue
            if not select.select([self._client], [], [], IDLE_SECONDS)[0]:
                gc.collect()
                select.select([self._client], [], [])
        try:
            return lines.receive(self._client)[0]
        except (EOFError, OSError):
            return None

    def _do(self, request: dict[str, Any]) -> None:
        """Do one thing and send the answer; a fault of our own becomes a sentence, never silence."""
        self._started = self._told = time.monotonic()
        self._done = self._failed = 0
        use(request.get("lang", "en"))
        try:
            if request["op"] == "probe":
                self._tell({"event": "report", "report": self._probe()})
            elif request["op"] == "prepare":
                self._sit_down(request["kata"]).wanted = True
            elif request["op"] == "grade":
                gc.disable()
                self._grade(request)
        except Stale:
            self._tell({"event": "cancelled"})
        except UsageError as error:
            self._tell({"event": "wrong-use", "message": error.message, "hint": error.hint})
        except BaseException as error:  # noqa: BLE001 - whatever it is, the client must hear of it
            where = " < ".join(
                f"{Path(f.filename).name}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)[-4:]
            )
            text = f"{type(error).__name__}: {error}".partition("\n")[0] + f" ({where})"
            self._tell({"event": "failed", "message": text, "trace": traceback.format_exc()})
        finally:
            gc.enable()

    def _tell(self, event: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            lines.send(self._client, event)

    def _something_came(self) -> bool:
        return bool(select.select([self._client], [], [], 0)[0])

    def _sit_down(self, kata: str) -> Desk:
        if self._desk is None or (self._desk.kata.id, self._desk.lang) != (kata, current()):
            if self._desk is not None:
                self._desk.close()
            self._desk = Desk(find(kata), self._keeper, self._call_seconds)
        return self._desk

    # --- grading

    def _grade(self, request: dict[str, Any]) -> None:
        if self._served >= MOST_GRADINGS or (self._desk is not None and self._desk.is_outdated()):
            self._tell({"event": "another"})
            return
        if is_real(request["device"]):
            refuse_absent_device(request["device"])
        many = bool(request.get("many"))
        desk = self._sit_down(request["kata"])
        plan = desk.plan_for(request)
        grading = desk.grading(request, plan, many=many)
        outcomes: list[CaseOutcome] = []

        def note(case: CaseOutcome) -> None:
            outcomes.append(case)
            self._done += 1
            self._failed += case.outcome not in ("passed", "skipped")
            if time.monotonic() > self._told + PROGRESS_SECONDS:
                self._told = time.monotonic()
                if request.get("keep") and self._something_came():
                    raise Stale
                self._tell({"event": "progress", "done": self._done, "failed": self._failed, "title": case.title})

        def hear(step: int, steps: int, loss: float) -> None:
            if step == steps or time.monotonic() > self._told + PROGRESS_SECONDS:
                self._told = time.monotonic()
                if request.get("keep") and self._something_came():
                    raise Stale
                self._tell({"event": "training", "step": step, "steps": steps, "loss": loss})

        grading.answer.on_training = hear
        runs = chosen(desk, grading, request)
        self._tell({"event": "plan", "total": sum(len(run.outcomes) for run in runs)})
        runner = Runner(grading, note)
        prepared = time.monotonic()
        signal.signal(signal.SIGALRM, too_long)
        signal.setitimer(signal.ITIMER_REAL, desk.kata.grading_seconds + SECOND_NET_SECONDS)
        try:
            if plan is not None:
                runner.replay(runs, plan, patiently=many)
            else:
                runner.run(runs)
            asked = time.monotonic()
            outcomes.sort(key=lambda o: (FAMILIES.index(o.family), o.case.position))
            document = self._document(request, grading, outcomes, desk)
            document["spent"] = {
                "preparing": round(prepared - self._started, 4),
                "cases": round(asked - prepared, 4),
                "diagnosis": round(time.monotonic() - asked, 4),
            }
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            grading.answer.close()
        desk.used(plan, many=many)
        self._tell({"event": "report", "report": document})

    def _document(
        self, request: dict[str, Any], grading: Grading, outcomes: list[CaseOutcome], desk: Desk
    ) -> dict[str, Any]:
        shown = Path(request["filename"]).name
        if grading.answer.load_failure is not None:  # one message says it all
            outcomes = []
        named = diagnose(grading, outcomes, desk.bank, patiently=bool(request.get("many")))
        return {
            "schema": reports.SCHEMA,
            "kata": grading.kata.id,
            "file": request["filename"],
            "verdict": reports.verdict(outcomes),
            "message": headline(grading, outcomes),
            "cases": [reports.case_document(case, request["source"], shown) for case in outcomes],
            "mistakes": [diagnosis.document(request["lang"]) for diagnosis in named],
            "facts": [] if named else [fact.document() for fact in facts(outcomes)],
            "families": reports.families(outcomes),
            "printed": grading.answer.load_printed,
            "seed": grading.seed,
            "seconds": round(time.monotonic() - self._started, 3),
            "sandbox": grading.answer.layers,
            "sandbox_gaps": [in_words(gap) for gap in grading.answer.gaps],
            "device": request["device"] or "cpu",
            "repro": script(outcomes, grading.kata.id, grading.seed, shown),
            "versions": reports.versions(),
        }

    # --- doctor

    def _probe(self) -> dict[str, Any]:
        keeper = self._keeper
        keeper.ask(PLAIN_LANE, cpu_seconds=10)
        sandbox = Sandbox(keeper, keeper.take(PLAIN_LANE), time.monotonic() + 60)
        sandbox.wait_ready()
        simulated, _ = sandbox.wait(sandbox.submit(Message({"op": "device"}), 30))
        sandbox.retire()
        return {
            "layers": sandbox.layers,
            "gaps": [in_words(gap) for gap in sandbox.gaps],
            "landlock_abi": landlock.abi(),
            "devices": devices(),
            "simulated_device": in_words(text_of(simulated["problem"], 300)),
            "model": self._model,
            "versions": reports.versions(),
            "seconds": round(time.monotonic() - self._started, 3),
        }


def too_long(number: int, frame: object) -> None:
    """Give up a grading that outlives all its deadlines: a fault of our own."""
    del number, frame
    raise TimeoutError("the judge did not come to an end")


def headline(grading: Grading, outcomes: list[CaseOutcome]) -> str:
    """Return the one sentence that says it all, where there is one."""
    failure = grading.answer.load_failure
    if failure is not None:
        if not failure.line or re.search(rf"\b{failure.line}\b", failure.message):
            return failure.message
        return _("{message} (line {line})").format(message=failure.message, line=failure.line)
    failures = [case.failure for case in outcomes if case.failure is not None]
    ran = [case for case in outcomes if case.outcome != "skipped"]
    if failures and len(failures) == len(ran) and all(failure.kind == "stub" for failure in failures):
        return _(NOTHING_WRITTEN)
    return ""


def chosen(desk: Desk, grading: Grading, request: dict[str, Any]) -> list[Run]:
    """Return the runs that a request asks for. Raises UsageError where that are none."""
    device = "" if request["device"] == "cpu" else request["device"]
    runs = wanted(desk.runs(device), request["case"].lower())
    if runs:
        return runs
    grading.answer.close()
    raise UsageError(
        _("No case has {text!r} in its id or title.").format(text=request["case"]),
        hint=_("See them all: kata grade {kata} --json").format(kata=request["kata"]),
    )


def refuse_absent_device(name: str) -> None:
    """Raise UsageError unless torch sees a device of this name."""
    if not any(device.startswith(name.partition(":")[0]) for device in devices()):
        seen = _(", ").join(devices())
        raise UsageError(
            _("torch sees no device {name!r} here; it sees {seen}.").format(name=name, seen=seen),
            hint=_("Without --device the family runs on a simulated device, which needs no hardware."),
        )


def devices() -> list[str]:
    """Return the devices that torch sees here."""
    found = ["cpu"]
    if torch.cuda.is_available():
        found += [f"cuda:{i} ({torch.cuda.get_device_name(i)})" for i in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        found.append("mps")
    return found


def main(settings: dict[str, Any], fds: dict[str, int]) -> None:
    """Become the judge. ``settings``: parent, request, call_seconds."""
    limits.die_with_parent()
    if os.getppid() != settings["parent"]:
        return
    torch.set_num_threads(1)
    gc.enable()
    client, control = socket.socket(fileno=fds["client"]), socket.socket(fileno=fds["control"])
    Judge(client, control, settings).serve(settings["request"])
