"""Which answers `kata dev check` grades, and with which seeds."""

from __future__ import annotations

import shutil
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader import catalog
from grader.catalog import Kata
from grader.client.session import Request
from grader.dev import byhand, files, shapes
from grader.dev.answers import known_answers
from grader.dev.check import Score, check, grade

KATA = catalog.find("valid-lens")


class AcceptsAll:
    """A session to which every answer is right."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def grade(self, request: Request, *, many: bool) -> dict[str, Any]:
        """Note what is asked for."""
        del many
        self.requests.append(request)
        return {"verdict": "passed", "message": "", "cases": [], "mistakes": [], "families": {}, "seed": request.seed}


def graded(session: AcceptsAll, each: list[str]) -> Score:
    """Grade with two seeds."""
    score = Score(KATA.id)
    grade(KATA, session, [3, 4], str, each, score)  # type: ignore[arg-type]
    return score


def test_one_kind_alone_with_each_seed() -> None:
    """Where kinds are named, their answers alone are graded: as often as there are seeds."""
    session = AcceptsAll()
    score = graded(session, ["correct"])
    correct = [known.source for known in known_answers(KATA) if known.kind == "correct"]
    assert [(request.source, request.seed) for request in session.requests] == [
        (source, seed) for seed in (3, 4) for source in correct
    ]
    assert score.accepted == [2 * len(correct)] * 2
    assert score.problems == []


def test_references_get_each_seed_and_all_else_one() -> None:
    """What must be rejected and is not, is told with its seed."""
    session = AcceptsAll()
    score = graded(session, [])
    known = [one for one in known_answers(KATA) if one.kind != "reference"]
    assert [request.seed for request in session.requests] == [None] * len(known) + [3, 4]
    wrong = [one for one in known if one.kind in ("mistake", "wrong")]
    assert len([problem for problem in score.problems if "not rejected" in problem]) == len(wrong) + 1  # and the stub


def test_ids_of_questions(tmp_path: Path) -> None:
    """Each question has one of its own, the same in both languages, and an answer."""
    folder = tmp_path / KATA.id
    shutil.copytree(KATA.folder, folder)
    kata = replace(KATA, folder=folder)
    assert [problem for problem in files.problems(kata) if "talk" in problem] == []
    page = "**Why?** <!-- a -->\nSo.\n\n**How?** <!-- a -->\n\n**Where?**\nHere.\n"
    (folder / "talk.md").write_text(page, encoding="utf-8")
    assert [problem for problem in files.problems(kata) if "talk" in problem] == [
        "talk.md: `Where?` has no id such as <!-- why -->",
        "talk.md: the id a stands twice",
        "talk.zh.md has other ids than talk.md",
        "talk.md: a has no answer",
    ]


def test_katas_are_rehearsed_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads share torch's random numbers: the dropout of one kata would change under the hands of another."""
    at_work: list[int] = []
    most: list[int] = []

    def problems(kata: Kata) -> list[str]:
        at_work.append(1)
        most.append(len(at_work))
        time.sleep(0.05)
        at_work.pop()
        return [f"{kata.id}: something"]

    for module in (files, byhand, shapes):
        monkeypatch.setattr(module, "problems", problems)
    threads = [threading.Thread(target=check, args=(KATA, AcceptsAll(), [3], str, ["reference"])) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 9
    assert set(most) == {1}
