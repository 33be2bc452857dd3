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
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import torch

from grader.catalog import FAMILIES, find
from grader.errors import UsageError
from grader.judge.contract import Grading
from grader.judge.explain import report as reports
from grader.judge.explain.drawing import drawings
from grader.judge.explain.explanation import explained, told
from grader.judge.failure import NOTHING_WRITTEN, text_of
from grader.judge.runs.isolation import isolate
from grader.judge.runs.outcome import CaseOutcome, Run
from grader.judge.runs.runner import Runner
from grader.judge.workbench import Workbench, wanted
from grader.judge.workers.keeper_client import DEVICE_WORKER, KeeperClient
from grader.language import _, current, use
from grader.sandbox import landlock, limits
from grader.transport import jsonlines
from grader.transport.operations import Message
from grader.transport.request import DRAWING, SCHEMA, is_real
from grader.transport.sentences import in_words

SECOND_NET_SECONDS: Final = 15
PROGRESS_SECONDS: Final = 0.05
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
        self._keeper = KeeperClient(control)
        self._workbench: Workbench | None = None
        self._served = 0
        self._on_hardware = is_real((settings["request"] or {}).get("device", ""))

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
        while not has_said_something(self._client):
            if self._workbench is not None and self._workbench.prepare_a_little():
                continue
            if not has_said_something(self._client, IDLE_SECONDS):
                gc.collect()
                has_said_something(self._client, None)
        return next_request(self._client)

    def _do(self, request: dict[str, Any]) -> None:
        """Do one thing and send the answer; a fault of our own becomes a sentence, never silence."""
        progress = _Progress(self._client, may_be_stale=bool(request.get("keep")))
        use(request.get("lang", "en"))
        try:
            if request["op"] == "probe":
                tell(self._client, {"event": "report", "report": self._probe()})
            elif request["op"] == "prepare":
                self._workbench_for(request["kata"]).wanted = True
            elif request["op"] == "draw":
                tell(self._client, {"event": "report", "report": self._draw(request)})
            elif request["op"] == "grade":
                gc.disable()
                self._grade(request, progress)
        except Stale:
            tell(self._client, {"event": "cancelled"})
        except UsageError as error:
            tell(self._client, {"event": "wrong-use", "message": error.message, "hint": error.hint})
        except BaseException as error:  # noqa: BLE001 - whatever it is, the client must hear of it
            tell(self._client, {"event": "failed", "message": told(error), "trace": traceback.format_exc()})
        finally:
            gc.enable()

    def _workbench_for(self, kata: str) -> Workbench:
        if self._workbench is None or (self._workbench.kata.id, self._workbench.lang) != (kata, current()):
            if self._workbench is not None:
                self._workbench.close()
            self._workbench = Workbench(find(kata), self._keeper, self._call_seconds)
        return self._workbench

    # --- grading

    def _grade(self, request: dict[str, Any], progress: _Progress) -> None:
        on_hardware = is_real(request["device"])
        if on_hardware:
            refuse_absent_device(request["device"])
        outdated = self._workbench is not None and self._workbench.is_outdated()
        if self._served >= MOST_GRADINGS or outdated or on_hardware != self._on_hardware:  # a keeper confines all alike
            tell(self._client, {"event": "another"})
            return
        many = bool(request.get("many"))
        workbench = self._workbench_for(request["kata"])
        plan = workbench.plan_for(request)
        grading = workbench.grading(request, plan, many=many)
        explained = request.get("explained", True)
        grading.answer.on_training = progress.hears
        runs = _chosen(workbench, grading, request)
        total = sum(len(run.outcomes) for run in runs)
        progress.begins(total)
        progress.lap("preparing")
        with _given_up_after(workbench.kata.grading_seconds + SECOND_NET_SECONDS), contextlib.closing(grading.answer):
            Runner(grading, progress.notes, plan, progress.confirms).run(runs, patiently=many)
            progress.lap("cases")
            progress.explains()
            outcomes = sorted(progress.outcomes, key=lambda o: (FAMILIES.index(o.family), o.case.position))
            if explained:
                isolate(grading, outcomes, request["source"])
            document = _document(request, grading, outcomes, total, workbench)
            progress.lap("diagnosis")
        workbench.used(plan, many=many)
        times = {"seconds": progress.seconds, "spent": progress.spent}
        tell(self._client, {"event": "report", "report": document | times})

    # --- drawing

    def _draw(self, request: dict[str, Any]) -> dict[str, Any]:
        workbench = self._workbench_for(request["kata"])
        grading = workbench.grading(request, None, many=False)
        with _given_up_after(workbench.kata.grading_seconds + SECOND_NET_SECONDS), contextlib.closing(grading.answer):
            return drawings(grading, workbench.kata.solution / DRAWING, model=request["model"])

    # --- doctor

    def _probe(self) -> dict[str, Any]:
        keeper, started = self._keeper, time.monotonic()
        sandbox = keeper.take(DEVICE_WORKER, started + 60, cpu_seconds=10)  # one like those that grade on the device
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
            "seconds": round(time.monotonic() - started, 3),
        }


# --- what the client hears


class _Progress:
    """Collects the outcomes of one grading and tells of them, not too often; and notes where its seconds go."""

    def __init__(self, client: socket.socket, *, may_be_stale: bool) -> None:
        """``may_be_stale``: whether a newer request ends the grading; then its methods raise Stale."""
        self._client, self._may_be_stale = client, may_be_stale
        self._started = self._lap = self._told = time.monotonic()
        self._failed = 0
        self.spent: dict[str, float] = {}
        self.outcomes: list[CaseOutcome] = []

    def begins(self, total: int) -> None:
        """So many cases are to be decided."""
        self._told = time.monotonic()
        tell(self._client, {"event": "plan", "total": total})

    def confirms(self) -> None:
        """All that shows something new has passed; the rest of the cases begins."""
        tell(self._client, {"event": "confirming"})

    def explains(self) -> None:
        """All cases are decided; where some fail it is time to find out why, which may take seconds."""
        if self._failed:
            tell(self._client, {"event": "explaining", "failed": self._failed})

    def notes(self, case: CaseOutcome) -> None:
        """A case is decided."""
        self.outcomes.append(case)
        self._failed += case.outcome not in ("passed", "skipped")
        if self._is_time():
            done = {"done": len(self.outcomes), "failed": self._failed, "title": case.title}
            tell(self._client, {"event": "progress", **done})

    def hears(self, step: int, steps: int, loss: float) -> None:
        """A training has come so far."""
        if step == steps or self._is_time():
            tell(self._client, {"event": "training", "step": step, "steps": steps, "loss": loss})

    def lap(self, name: str) -> None:
        """Note what was done since the last time."""
        now = time.monotonic()
        self.spent[name] = round(now - self._lap, 4)
        self._lap = now

    @property
    def seconds(self) -> float:
        """How long the grading has taken up to now."""
        return round(time.monotonic() - self._started, 3)

    def _is_time(self) -> bool:
        now = time.monotonic()
        if now <= self._told + PROGRESS_SECONDS:
            return False
        self._told = now
        if self._may_be_stale and has_said_something(self._client):
            raise Stale
        return True


def tell(client: socket.socket, event: dict[str, Any]) -> None:
    """Send the client an event; who has gone hears nothing."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        jsonlines.send(client, event)


def has_said_something(client: socket.socket, seconds: float | None = 0) -> bool:
    """Whether something came of the client, perhaps after so many seconds; None waits for it."""
    return bool(select.select([client], [], [], seconds)[0])


def next_request(client: socket.socket) -> dict[str, Any] | None:
    """Return what came, None where the client has gone."""
    try:
        return jsonlines.receive(client)[0]
    except (EOFError, OSError):
        return None


@contextlib.contextmanager
def _given_up_after(seconds: float) -> Iterator[None]:
    """Give up a grading that outlives all its deadlines: a fault of our own."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _too_long(number: int, frame: object) -> None:
    del number, frame
    raise TimeoutError("the judge did not come to an end")


def _document(
    request: dict[str, Any], grading: Grading, outcomes: list[CaseOutcome], total: int, workbench: Workbench
) -> dict[str, Any]:
    """Return the report, all but its times."""
    shown = Path(request["filename"]).name
    if grading.answer.load_failure is not None:  # one message says it all
        outcomes = []
    return {
        "schema": SCHEMA,
        "kata": grading.kata.id,
        "file": request["filename"],
        "verdict": reports.verdict(outcomes, total),
        "message": headline(grading, outcomes),
        "cases": [reports.case_document(case, request["source"], shown) for case in outcomes],
        **explained(request, grading, outcomes, workbench.bank),
        "families": reports.families(outcomes),
        "printed": grading.answer.load_printed,
        "seed": grading.seed,
        "seconds": 0.0,
        "sandbox": grading.answer.layers,
        "sandbox_gaps": [in_words(gap) for gap in grading.answer.gaps],
        "device": request["device"] or "cpu",
        "versions": reports.versions(),
    }


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


def _chosen(workbench: Workbench, grading: Grading, request: dict[str, Any]) -> list[Run]:
    """Return the runs that a request asks for. Raises UsageError where that are none."""
    device = "" if request["device"] == "cpu" else request["device"]
    runs = wanted(workbench.runs(grading.seed, device), request["case"].lower())
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
