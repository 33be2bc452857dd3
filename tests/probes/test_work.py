"""How much work each line asks for."""

from __future__ import annotations

import torch

from grader.probes.work import Work


def test_work_is_charged_to_all_lines_that_run() -> None:
    """The outermost line first; a product counts its multiply-adds and what it writes."""
    namespace: dict = {}
    source = "def g(x):\n    return x @ x\ndef f(x):\n    for _ in range(3):\n        g(x)\n    return x.t()\n"
    exec(compile(source, "answer.py", "exec"), namespace)
    work = Work("answer.py")
    x = torch.ones(4, 4)
    with work:
        namespace["f"](x)
    assert dict(work.counted) == {((5, 2), 64 + 16): 3}
