"""Naming mistakes and writing a failing case as a script, through real processes."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from grader import catalog
from grader.client.session import Request, Session
from grader.dev.answers import known_answers
from grader.judge.explain.mistakes import load
from tests.gradings import KATAS_A_DAY, SEED, on_its_worker


def graded(session: Session, kata: str, source: str, case: str, **more) -> dict:
    """Grade an answer in a few cases, with the inputs that are prepared for all tests of its kata."""
    return session.grade(Request(kata, source, catalog.find(kata).filename, seed=SEED, case=case, **more), many=True)


def changed(kata: str, old: str, new: str) -> str:
    """Return the reference with a change."""
    text = catalog.find(kata).reference()
    assert text.count(old) == 1
    return text.replace(old, new)


def ids(report: dict) -> list[str]:
    """Return the named mistakes."""
    return [mistake["id"] for mistake in report["mistakes"]]


# --- diagnosis --------------------------------------------------------------------------------------------------------


@on_its_worker("masked-softmax")
def test_a_known_mistake_in_other_words(session: Session) -> None:
    """What counts is what an answer does, not how it is written."""
    source = """
import torch

def masked_softmax(scores, mask=None, dim=-1):
    if mask is not None:
        scores = torch.where(mask, torch.tensor(float("-inf"), dtype=scores.dtype), scores)
    shifted = scores - scores.amax(dim, keepdim=True).clamp_min(-1e30)
    weights = shifted.exp() / shifted.exp().sum(dim, keepdim=True)
    return weights if mask is None else weights.masked_fill(mask, 0.0)
"""
    report = graded(session, "masked-softmax", source, "mask/hides")
    assert ids(report) == ["mask-inverted"]
    (named,) = report["mistakes"]
    bank = {mistake.id: mistake for mistake in load(catalog.find("masked-softmax"))}
    assert named["title"] == bank["mask-inverted"].title["en"]
    assert named["explain"] == bank["mask-inverted"].explain["en"]
    assert set(named["cases"]) == {case["id"] for case in report["cases"] if case["outcome"] == "failed"}


@on_its_worker("lr-schedule")
def test_a_mistake_that_passes_is_not_blamed(session: Session) -> None:
    """Plain numbers are never accepted at a glance: a mistake in something else passes the cases that fail here."""
    kata = catalog.find("lr-schedule")
    (known,) = [one for one in known_answers(kata) if one.name == "rates_below_1e_8_are_zero"]
    report = session.grade(Request(kata.id, known.source, kata.filename, seed=SEED), many=True)
    assert report["verdict"] == "failed"
    assert "nothing-refused" not in ids(report)


@on_its_worker("masked-softmax")
def test_in_chinese(session: Session) -> None:
    """The texts are those of the language that was asked for."""
    bank = {mistake.id: mistake for mistake in load(catalog.find("masked-softmax"))}
    source = bank["mask-inverted"].applied_to(catalog.find("masked-softmax").reference())
    (named,) = graded(session, "masked-softmax", source, "mask/hides", lang="zh")["mistakes"]
    assert named["nudge"] == bank["mask-inverted"].nudge["zh"]


@on_its_worker("masked-softmax")
def test_no_name_for_what_is_in_no_bank(session: Session) -> None:
    """A mistake of one's own is not given somebody else's name."""
    source = changed("masked-softmax", "masked_scores = scores", "masked_scores = 1.01 * scores")
    report = graded(session, "masked-softmax", source, "mask/hides")
    assert report["verdict"] == "failed"
    assert ids(report) == []


@on_its_worker("masked-softmax")
def test_no_name_for_half_a_mistake(session: Session) -> None:
    """An entry that would have failed a case which the answer passed is out."""
    bank = {mistake.id: mistake for mistake in load(catalog.find("masked-softmax"))}
    wrong = bank["mask-inverted"].applied_to(catalog.find("masked-softmax").reference())
    both = f"""
right, wrong = {{}}, {{}}
exec({catalog.find("masked-softmax").reference()!r}, right)
exec({wrong!r}, wrong)

def masked_softmax(scores, mask=None, dim=-1):
    use = wrong if mask is not None and mask.dim() == 1 else right
    return use["masked_softmax"](scores, mask, dim)
"""
    report = graded(session, "masked-softmax", both, "mask/")
    assert report["verdict"] == "failed"
    assert ids(report) == []


@on_its_worker("decoder-block")
@pytest.mark.one_of_many(of=KATAS_A_DAY)
@pytest.mark.parametrize("names", [("no-memory-read", "sublayer-not-dropped"), ("pre-norm", "new-before-old")])
def test_two_in_a_large_bank(session: Session, names: tuple[str, str]) -> None:
    """Two of fifty mistakes are found in one file: most pairs are ruled out by what each of the two does by itself."""
    kata, source = catalog.find("decoder-block"), catalog.find("decoder-block").reference()
    for mistake in load(kata):
        source = mistake.applied_to(source) if mistake.id in names else source
    report = session.grade(Request(kata.id, source, kata.filename, seed=SEED), many=True)
    assert set(ids(report)) == set(names)


@on_its_worker("mask-dialects")
def test_no_two_that_a_passing_contract_contradicts(session: Session) -> None:
    """Two mistakes are named only where they do what the answer did in the cases of the contract that pass, too."""
    kata = catalog.find("mask-dialects")
    by_dtype_first = """
def to_keep_mask(mask, dialect):
    if mask.is_floating_point():
        return mask > -1000
    if dialect == "additive":
        raise ValueError(dialect)
    if dialect not in ("keep", "hide"):
        raise ValueError(dialect)
    return mask.bool() if dialect == "keep" else ~mask.bool()
"""
    named = ids(session.grade(Request(kata.id, by_dtype_first, kata.filename, seed=SEED), many=True))
    assert "unknown-is-hide" not in named
    assert "dtype-not-checked" not in named


@pytest.mark.one_of_many(of=KATAS_A_DAY)
@on_its_worker("decoder-block")
def test_a_cost_is_explained_by_one_of_its_size(session: Session) -> None:
    """A mistake that costs three times less than the answer is not what the answer does."""
    kata = catalog.find("decoder-block")
    (answer,) = (a for a in known_answers(kata) if a.name == "whole_score_matrix_each_step")
    named = ids(session.grade(Request(kata.id, answer.source, kata.filename, seed=SEED, case="cost/"), many=True))
    assert named == ["queries-of-all-positions"]


@on_its_worker("masked-softmax")
def test_no_name_for_a_passing_answer(session: Session) -> None:
    """Correct answers carry no diagnosis and no script, nor does a stub."""
    kata = catalog.find("masked-softmax")
    report = graded(session, kata.id, kata.reference(), "mask/")
    assert (report["verdict"], report["mistakes"], report["repro"]) == ("passed", [], "")
    assert ids(graded(session, kata.id, kata.stub(), "mask/hides")) == []


# --- repro ------------------------------------------------------------------------------------------------------------


def script_of(report: dict, source: str, folder: Path) -> Path:
    """Write the script of a report beside the answer, as `kata repro` does."""
    filename = catalog.find(report["kata"]).filename
    (folder / filename).write_text(source, encoding="utf-8")
    script = folder / f"repro_{filename}"
    script.write_text(report["repro"], encoding="utf-8")
    return script


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Return a function that runs the script of a report and returns what it prints."""

    def run(report: dict, source: str) -> str:
        runpy.run_path(str(script_of(report, source, tmp_path)))
        return capsys.readouterr().out

    return run


def values(output: str, heading: str) -> str:
    """Return what was printed under a heading."""
    return output.partition(f"{heading}\n")[2].partition("\nexpected\n")[0].partition("\ngradient of")[0].strip()


@on_its_worker("masked-softmax")
def test_a_function(session: Session, tmp_path: Path) -> None:
    """The script calls the function with the inputs of a failing case and prints got and expected."""
    source = changed("masked-softmax", "weights = torch.softmax(masked", "weights = 0.5 * torch.softmax(masked")
    report = graded(session, "masked-softmax", source, "mask/")
    command = [sys.executable, script_of(report, source, tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0, result.stderr
    got, expected = values(result.stdout, "got"), values(result.stdout, "expected")
    assert got.startswith("tensor(")
    assert expected.startswith("tensor(")
    assert got != expected
    assert f"seed {SEED}" in report["repro"]


@on_its_worker("masked-softmax")
def test_a_call_that_raises(session: Session, run) -> None:
    """Where the answer raises, so does the script, at the learner's line."""
    source = changed("masked-softmax", "weights = torch.softmax(masked", "weights = nothing.softmax(masked")
    report = graded(session, "masked-softmax", source, "mask/hides_some")
    with pytest.raises(NameError, match="name 'nothing' is not defined") as raised:
        run(report, source)
    assert Path(raised.traceback[-1].path).name == "masked_softmax.py"
    assert raised.traceback[-1].lineno + 1 == int(report["cases"][0]["where"].partition(":")[2])


@on_its_worker("mha")
def test_a_module(session: Session, run) -> None:
    """The module is built with the weights of the failing call."""
    source = changed("mha", "/ math.sqrt(self.d_head)", "/ math.sqrt(self.n_heads * self.d_head)")
    report = graded(session, "mha", source, "core/two_heads")
    output = run(report, source)
    failed = next(case for case in report["cases"] if case["outcome"] == "failed")
    assert failed["message"].partition("got ")[2].partition(";")[0] in values(output, "got")
    assert failed["message"].partition("expected ")[2].partition(",")[0] in values(output, "expected")


@on_its_worker("kv-cache")
def test_all_calls_of_the_case_and_what_differs(session: Session, run) -> None:
    """Earlier results are made by the file itself and handed back; a repaired file agrees."""
    right = catalog.find("kv-cache").reference()
    source = changed(
        "kv-cache", "keys = torch.cat([past_keys, keys], dim=2)", "keys = torch.cat([keys, past_keys], dim=2)"
    )
    report = graded(session, "kv-cache", source, "core/")
    assert "returned(got_1[1])" in report["repro"]
    shown = report["causes"][0]["evidence"]["case"]
    assert f"case {shown} " in report["repro"]
    last = run(report, source).splitlines()[-1]
    assert "expected" in last
    assert run(report, right).splitlines()[-1] == "agrees now"


@on_its_worker("sdpa")
def test_a_gradient(session: Session, run) -> None:
    """A wrong gradient shows beside the expected one."""
    source = changed("sdpa", "torch.softmax(scores, dim=-1)", "torch.softmax(scores.detach(), dim=-1)")
    report = graded(session, "sdpa", source, "grad/")
    failed = [case for case in report["cases"] if case["outcome"] == "failed"]
    assert failed
    assert all("gradient" in case["message"] for case in failed)
    output = run(report, source)
    assert "gradient of q\nNone\nexpected\ntensor" in output
    assert "gradient of v\ntensor" in output


@on_its_worker("kv-cache")
def test_gradients_of_parameters_and_members(session: Session, run) -> None:
    """Each gradient that the script prints belongs to something that the script has."""
    source = changed("kv-cache", "return self.W_o(context), (keys", "return self.W_o(context.detach()), (keys")
    output = run(graded(session, "kv-cache", source, "grad/gradients_of_a_chunk_after"), source)
    assert "gradient of W_q.weight\nNone\nexpected\ntensor" in output
    assert "gradient of W_o.weight\ntensor" in output
    assert "gradient of x\n" in output


@on_its_worker("masked-softmax")
@pytest.mark.parametrize("case", ["core/transposed", "mask/one_tensor_stands"])
def test_a_view(session: Session, run, case: str) -> None:
    """An input that was transposed or expanded is so in the script too: what fails on views fails there."""
    source = """
import torch

def masked_softmax(scores, mask=None, dim=-1):
    scores.view(-1).view(scores.shape)
    if mask is None:
        return torch.softmax(scores, dim)
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim).masked_fill(~mask, 0.0)
"""
    report = graded(session, "masked-softmax", source, case)
    assert report["verdict"] == "failed"
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        run(report, source)


@on_its_worker("adamw")
def test_a_scene(session: Session, run) -> None:
    """What an optimiser is put into is in the script, which shows the wrong step."""
    source = changed("adamw", "decayed - lr * mean", "decayed + lr * mean")
    report = graded(session, "adamw", source, "core/by_hand")
    output = run(report, source)
    assert "def optimise(" in report["repro"]
    assert "optimise(answer.AdamW, (" in report["repro"] or "optimise(answer.AdamW, [" in report["repro"]
    assert "got" in output
    assert "expected" in output
