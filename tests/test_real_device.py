"""The simulated device against a real one, where there is one: the same answers fail, and the same pass."""

from __future__ import annotations

import pytest
import torch

from grader import catalog
from grader.client.session import Request, Session
from grader.dev.answers import Known, known_answers

REAL = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else ""
if not REAL:
    pytest.skip("torch sees no GPU here", allow_module_level=True)

KATAS = {kata.id: kata for kata in catalog.katas().values() if "device" in kata.families}
ANSWERS = [known for kata in KATAS.values() for known in known_answers(kata) if known.kind in ("mistake", "reference")]


def failing(session: Session, known: Known, device: str) -> set[str]:
    """Return which cases of the device family fail on a device."""
    filename = KATAS[known.kata].filename
    report = session.grade(Request(known.kata, known.source, filename, seed=3, case="device/", device=device))
    return {case["id"].partition("[")[0] for case in report["cases"] if case["outcome"] not in ("passed", "skipped")}


@pytest.mark.parametrize("known", ANSWERS, ids=[f"{known.kata}-{known.name}" for known in ANSWERS])
def test_simulated_and_real_device_agree(known: Known, session: Session) -> None:
    """Every mistake of every bank, and every reference, case by case."""
    assert failing(session, known, "") == failing(session, known, REAL)
