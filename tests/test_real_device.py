"""The simulated device against a real one, where there is one: the same answers fail, and the same pass."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader import catalog
from grader.client.session import Request, Session
from grader.dev.answers import Known, known_answers

REAL = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else ""
if not REAL:
    pytest.skip("torch sees no GPU here", allow_module_level=True)

KATAS = {kata.id: kata for kata in catalog.katas().values() if "device" in kata.families}
ANSWERS = [known for kata in KATAS.values() for known in known_answers(kata) if known.kind != "stub"]


SOME_OF_ALL = ("modified", "forbidden")
"""What is watched for in one run of three: not in the same ones on either device."""


def is_seen_there(case: dict[str, Any]) -> bool:
    """Whether a real device can show why a case fails on the simulated one: not what travels, nor how inputs lie."""
    return case["kind"] != "traffic" and "layout" not in case["levels"]


@pytest.mark.parametrize("known", ANSWERS, ids=[f"{known.kind}-{known.kata}-{known.name}" for known in ANSWERS])
def test_simulated_and_real_device_agree(known: Known, session: Session) -> None:
    """Every known answer, right or wrong, case by case."""
    request = Request(known.kata, known.source, KATAS[known.kata].filename, seed=3, case="device/", device=REAL)
    cases = {case["id"]: case for case in session.grade(request)["cases"]}
    simulated = {name: case for name, case in cases.items() if not name.endswith("]")}
    real = {name.removesuffix(f"[{REAL}]"): case for name, case in cases.items() if name.endswith("]")}
    assert real.keys() == simulated.keys()
    differing = {
        name: (case["outcome"], real[name]["outcome"], real[name]["message"])
        for name, case in simulated.items()
        if case["outcome"] != real[name]["outcome"]
        and not {case["kind"], real[name]["kind"]} & {*SOME_OF_ALL}
        and (case["outcome"] == "passed" or is_seen_there(case))
    }
    assert not differing
