"""A bug on one path only: a prepared judge makes some of the derived runs, and still finds it."""

from __future__ import annotations

import pytest

from grader import catalog
from grader.client.session import Request, Session
from tests.gradings import SEED, on_its_worker

KATA = catalog.find("mha")
PATHS = (
    "mask is None",
    "mask is not None and mask.dim() == 2",
    "mask is not None and mask.dim() == 3",
    "mask is not None and mask.dim() == 3 and mask.size(0) == 1",
    "mask is not None and mask.dim() == 3 and mask.size(1) == 1",
    "mask is not None and mask.dim() == 4 and mask.size(1) == 1",
    "mask is not None and mask.dim() == 4 and mask.size(1) > 1",
    "mask is not None and bool(mask.all())",
    "q.size(1) == 1",
    "q.size(1) != k.size(1)",
    "q.size(1) == k.size(1)",
    "q.size(-1) > 16",
    "q is k",
    "k is v",
    "not q.is_contiguous()",
    "self.n_heads == 1",
    "self.W_q.bias is None",
    "self.training",
    "self.dropout.p > 0 and not self.training",
)
BUGS = {
    "device": "q = q + torch.zeros(q.shape[-1], dtype=q.dtype)",
    "dtype": "q = q + q if q.dtype == torch.bfloat16 else q",
    "grad": "q = q.detach()",
}


@pytest.mark.one_of_many
@on_its_worker(KATA.id)
@pytest.mark.parametrize("family", BUGS)
@pytest.mark.parametrize("path", PATHS)
def test_a_bug_on_one_path(session: Session, path: str, family: str) -> None:
    """The model answer with a bug that only these calls meet is rejected, in the family of the bug."""
    head, forward, body = KATA.reference().partition("    def forward")
    docstring, end, code = body.rpartition('"""\n')
    source = f"{head}{forward}{docstring}{end}        if {path}:\n            {BUGS[family]}\n{code}"
    report = session.grade(Request(KATA.id, source, KATA.filename, seed=SEED, explained=False), many=True)
    assert report["verdict"] == "failed"
    assert family in {case["family"] for case in report["cases"] if case["outcome"] not in ("passed", "skipped")}
