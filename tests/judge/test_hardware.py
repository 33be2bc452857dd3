"""Gradings on hardware and those without it have judges of their own: a keeper confines all its sandboxes alike."""

from __future__ import annotations

import socket
from dataclasses import asdict

import pytest

from grader import catalog
from grader.client.session import Request
from grader.judge import service
from grader.judge.cases.collect import cases_of
from grader.judge.runs.plan import runs_of
from grader.judge.translations import Translations
from grader.judge.workers.answer import worker_of
from grader.judge.workers.keeper_client import DEVICE_WORKER, PLAIN_WORKER
from grader.transport import jsonlines
from grader.transport.memory import OWN

ON_THE_CPU = asdict(Request("masked-softmax", "", "masked_softmax.py")) | {"op": "grade", "keep": False}
ON_A_GPU = ON_THE_CPU | {"device": "cuda"}


@pytest.mark.parametrize(("first", "then"), [(ON_THE_CPU, ON_A_GPU), (ON_A_GPU, ON_THE_CPU)])
def test_another_judge_takes_over_where_hardware_comes_or_goes(monkeypatch, first, then):
    """Confined, an answer cannot open a GPU; and what was let open one is not confined enough for anybody else."""
    monkeypatch.setattr(service, "devices", lambda: ["cpu", "cuda:0 (made up)"])
    client, ours = socket.socketpair()
    control, other = socket.socketpair()
    with client, ours, control, other:
        settings = {"request": first, "call_seconds": None, "model": "fork"}
        service.Judge(client, control, settings).serve(then)
        said, _ = jsonlines.receive(ours)
        assert said == {"event": "another"}


def test_an_absent_device_is_refused_before_another_judge_is_asked_for(monkeypatch):
    """The sentence names what torch sees."""
    monkeypatch.setattr(service, "devices", lambda: ["cpu"])
    client, ours = socket.socketpair()
    control, other = socket.socketpair()
    with client, ours, control, other:
        service.Judge(client, control, {"request": None, "call_seconds": None, "model": "fork"}).serve(ON_A_GPU)
        said, _ = jsonlines.receive(ours)
        assert said["event"] == "wrong-use"
        assert "cuda" in said["message"]


def test_what_runs_on_the_simulated_device_runs_on_hardware_too():
    """Each run once more, as the same caller would, but with inputs that lie as one expects."""
    kata = catalog.find("lora")
    cases = cases_of(kata.solution, Translations())
    runs = runs_of(cases, kata.families, 3, "cuda")
    variants = [run.outcome.variant for run in runs]
    simulated, real = ([variant for variant in variants if variant.device == name] for name in ("sim", "cuda"))
    assert len(simulated) == len(real) > 0
    assert {variant.label for variant in real} == {"cuda"}
    assert {variant.layout for variant in real} == {OWN}
    for one, other in zip(simulated, real, strict=True):
        assert [level for level in one.levels if level[0] != "layout"] == list(other.levels)


def test_hardware_has_a_process_without_the_simulated_device():
    """Autograd serves one kind of accelerator in a process."""
    assert worker_of("device", 1, "sim") == worker_of("device", 2) == DEVICE_WORKER
    assert worker_of("device", 1, "cuda:0") == worker_of("device", 2, "cuda:0") == PLAIN_WORKER
