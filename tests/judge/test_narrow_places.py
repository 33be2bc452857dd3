"""Places that hold the faulty line, and three statements at most: refusals, layers, masks, what is handed back."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.client.session import Session
from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.match import Matcher
from grader.judge.explain.locate.partners import first_wrong, keyed
from grader.judge.explain.locate.traces import Step, Trace
from tests.gradings import by_kata
from tests.judge.test_causes import changed, line_of, why

HELPER = "def to_keep_mask(mask: Tensor, dialect: str) -> Tensor:\n"
CHECK = """\
    if mask.is_floating_point() != (dialect == "additive"):
        raise ValueError(f"a mask of {mask.dtype} cannot be in the dialect {dialect!r}")
"""
TABLES = """\
    positions = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)  # (seq_len,)
    exponents = torch.arange(0, d_head, 2, dtype=torch.float64, device=device) / d_head  # (d_head // 2,)
"""
HIDING = """\
    keep = positions < valid_lens[:, :, None]  # (B, n, m)
    masked_scores = scores.masked_fill(~keep, float("-inf"))
    weights = torch.softmax(masked_scores, dim=-1)
    return weights.masked_fill(~keep, 0.0)  # softmax over nothing but -inf is NaN
"""
HIDDEN = """\
    hidden = positions > valid_lens[:, :, None]
    masked_scores = scores.masked_fill(hidden, float("-inf"))
    weights = torch.softmax(masked_scores, dim=-1)
    return weights.masked_fill(hidden, 0.0)
"""
CLIPPED = """\
    if max_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
"""
LATE = """\
    weights = torch.softmax(scores, dim=dim)
    return weights * mask
"""
MASKED = """\
    masked_scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(masked_scores, dim=dim)
    return weights.masked_fill(~mask, 0.0)  # softmax over nothing but -inf is NaN
"""


@pytest.mark.parametrize(
    ("kata", "edits", "marked"),
    by_kata(
        pytest.param(
            "gqa",
            [("        if n_heads % n_kv_heads != 0:\n", "        if False:\n")],
            "if False",
            id="a check that asks for nothing",
        ),
        pytest.param(
            "mask-dialects",
            [
                (CHECK, ""),
                ("        return mask == 0\n", "        return (mask) == 0\n"),
                ("    return mask != 0", "    return (mask) != 0"),
                ('    if dialect == "hide":\n', '    if dialect in ("hide",):\n'),
                ('    if dialect == "additive":\n', "    if mask.is_floating_point():\n"),
            ],
            "(mask) != 0",
            id="where something came back that should have been refused",
        ),
        pytest.param(
            "static-cache",
            [("        if end > self.max_len:\n", "        if False:\n")],
            "if False",
            id="a check of a method that asks for nothing",
        ),
        pytest.param(
            "lora",
            [("        self.base = base.requires_grad_(False)\n", "        self.base = base.requires_grad_(True)\n")],
            "requires_grad_(True)",
            id="a layer that should not be trained",
        ),
        pytest.param(
            "swiglu",
            [
                (
                    "        self.w1 = nn.Linear(d_model, d_ff, bias=False)\n",
                    "        d_ff = 2 * d_ff // 3\n        self.w1 = nn.Linear(d_model, d_ff, bias=False)\n",
                )
            ],
            "2 * d_ff // 3",
            id="what the sizes of layers were made of",
        ),
        pytest.param(
            "learned-positions",
            [
                (
                    "        self.pe = nn.Parameter(torch.empty(max_len, d_model))\n",
                    '        self.register_buffer("pe", torch.empty(max_len, d_model))\n',
                )
            ],
            "register_buffer",
            id="a buffer in place of a parameter",
        ),
        pytest.param(
            "train-step",
            [(CLIPPED, "    optimizer.step()\n" + CLIPPED.replace("    optimizer.step()\n", ""))],
            "nn.utils.clip_grad_norm_",
            id="what is done in another order",
        ),
        pytest.param("valid-lens", [(HIDING, HIDDEN)], "positions > valid_lens", id="a mask the other way round"),
        pytest.param("masked-softmax", [(MASKED, LATE)], "weights * mask", id="a mask that comes in later"),
        pytest.param(
            "rope",
            [(TABLES, TABLES.replace("/ d_head ", "/ (d_head + 1) "))],
            "/ (d_head + 1)",
            id="a table large enough to be known again",
        ),
        pytest.param(
            "mask-dialects",
            [
                ("    return mask != 0", "    return kept(mask)"),
                (HELPER, "def kept(mask):\n    return mask.to(mask.dtype)\n\n\n" + HELPER),
            ],
            "mask.to(mask.dtype)",
            id="a dtype that a helper hands back",
        ),
    ),
)
def test_a_place_is_narrow_and_holds_the_faulty_line(
    session: Session, kata: str, edits: list[tuple[str, str]], marked: str
) -> None:
    """Of mistakes that are looked for by their places alone."""
    source = changed(kata, *edits)
    cause = next(one for one in why(session, kata, source, named=False) if one["lines"])
    assert line_of(source, marked) in cause["lines"], cause
    assert len(cause["lines"]) <= 3, cause


PLAIN = """\
def f(self, x, mask=None):
    b, n, d = x.shape
    length = x.shape[1]
    work = x.float() if x.dtype == torch.float16 else x
    if work.dtype == torch.float16:
        work = work + 1
    q, k = x, x
    heads = self.heads
    self.rate = rate
    self.drop = nn.Dropout(rate)
    self.proj = nn.Linear(4, 4)
    result = x
    total = n if mask is None else d
    seen = d if mask is None else d & mask
    shared = n if n > 3 else 2 * n
"""


def test_what_can_hardly_be_wrong() -> None:
    """All axes of a shape, a dtype that is asked for, another name for several things at once; not one axis alone."""
    flow = flow_of(PLAIN)
    lines = PLAIN.splitlines()
    plain = {lines[s.line - 1].strip() for s in flow.every() if s.is_plain}
    assert plain == {
        "b, n, d = x.shape",
        "work = x.float() if x.dtype == torch.float16 else x",
        "if work.dtype == torch.float16:",
        "q, k = x, x",
        "heads = self.heads",
        "self.rate = rate",
        "self.drop = nn.Dropout(rate)",
        "total = n if mask is None else d",
    }


@pytest.mark.parametrize(
    ("mine", "theirs", "is_known"),
    [
        pytest.param([0.5, 0.25, 0.125], [0.5, 0.25, 0.125], True, id="a few fractions"),
        pytest.param([0.25, 0.5, 0.125], [0.5, 0.25, 0.125], False, id="not in their places"),
        pytest.param([0.5, 0.25], [0.5, 0.25], False, id="too few"),
        pytest.param([1.0, 0.25, 0.125], [1.0, 0.25, 0.125], False, id="a whole number among them"),
        pytest.param([3.0, 1.0, 2.0], [3, 1, 2], True, id="whole numbers of another dtype"),
        pytest.param([], [3, 1, 2], False, id="no numbers"),
    ],
)
def test_few_numbers_are_known_again_in_their_places(mine: list[float], theirs: list[float], is_known: bool) -> None:
    """As steps that were computed; what is few and may be anything is not."""
    want = torch.tensor(theirs, dtype=torch.float64 if 0.125 in theirs else torch.int64)
    got = torch.tensor(mine, dtype=torch.float64)
    made: dict[str, Any] = {"line": 3, "operation": "mul", "reads": (), "name": "", "cuts": False, "writes": -1}
    reference = Step(**made, dtype="", shape=tuple(want.shape), value=want)
    step = Step(**made, dtype="float64", shape=tuple(got.shape), value=got)
    found = Matcher(Trace((reference,)), 1e-9).found(step)
    assert found == (("arranged", 0) if is_known else None)


def made(line: int, operation: str, *values: list[float]) -> list[Step]:
    """Return steps that one statement makes, time after time."""
    tensors = [torch.tensor(one, dtype=torch.float64) for one in values]
    fields: dict[str, Any] = {"reads": (), "dtype": "float64", "name": "", "cuts": False, "writes": -1}
    return [Step(line, operation, shape=tuple(v.shape), value=v, at=turn, **fields) for turn, v in enumerate(tensors)]


RIGHT: list[float] = [1.5, 2.5, 3.5]
OTHER: list[float] = [1.5, 2.5, 4.5]


@pytest.mark.parametrize(
    ("mine", "theirs", "found"),
    [
        pytest.param([RIGHT], [RIGHT], None, id="as it should be"),
        pytest.param([OTHER], [RIGHT], (0, 1), id="another one"),
        pytest.param([OTHER, OTHER], [RIGHT], None, id="done twice here, and once where it was right"),
        pytest.param([OTHER], [RIGHT, RIGHT], None, id="the reference does it twice here"),
        pytest.param([OTHER[:2]], [RIGHT], None, id="of another size"),
    ],
)
def test_the_first_step_that_is_not_what_it_is_in_calls_that_pass(
    mine: list[list[float]], theirs: list[list[float]], found: tuple[int, int] | None
) -> None:
    """Only where both are done as often, and what it should be is there."""
    answer = Trace(tuple(made(3, "mul", *mine)))
    reference = Trace((*made(2, "sum", [9.5]), *made(7, "mul", *theirs)))
    known = {(3, "mul", 1, 0, 1): frozenset([(7, "mul", 1, 0, 1)])}
    assert first_wrong(known, answer, reference, range(len(answer.steps)), 1e-9) == found


def test_statements_of_a_loop_are_told_apart_by_their_turns() -> None:
    """Each turn has its number, and how many there are."""
    trace = Trace((*made(3, "mul", RIGHT, OTHER), *made(4, "add", RIGHT)))
    assert set(keyed(trace).values()) == {(3, "mul", 1, 0, 2), (3, "mul", 1, 1, 2), (4, "add", 1, 0, 1)}
