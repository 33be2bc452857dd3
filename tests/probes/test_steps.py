"""The steps of a call: what an answer's lines make, and of what."""

from __future__ import annotations

import torch

from grader.probes.steps import SOURCE, Recorder

FILE = "answer.py"


def recorded(source: str, *args, name: str = "f") -> Recorder:
    """Return the steps of a function of a file."""
    namespace: dict = {}
    exec(compile(source, FILE, "exec"), namespace)
    recorder = Recorder(FILE)
    with recorder:
        namespace[name](*args)
    return recorder


def test_each_step_knows_its_line_its_name_and_what_it_was_made_of() -> None:
    """What was there before is a step of its own, without a line."""
    steps = recorded("def f(x):\n    y = x * 2\n    return y.sum(-1)\n", torch.ones(2, 3)).steps
    assert [(step.operation, step.line, step.reads, step.name) for step in steps] == [
        (SOURCE, 0, [], ""),
        ("mul", 2, [0], "y"),
        ("sum", 3, [1], ""),
    ]


def test_the_line_is_the_innermost_one_of_the_file() -> None:
    """A helper of the file is told by its own lines."""
    source = "def g(x):\n    return x + 1\ndef f(x):\n    y = g(x)\n    return y * 2\n"
    assert [step.line for step in recorded(source, torch.ones(3)).steps] == [0, 2, 5]


def test_who_reads_what_was_written_in_place_depends_on_it() -> None:
    """Also where it was written through a view."""
    source = "def f(x):\n    t = x.clone()\n    t[0] = 5.0\n    return t * 2\n"
    steps = recorded(source, torch.ones(2, 2)).steps
    last = steps[-1]
    assert last.operation == "mul"
    assert any(steps[read].line == 3 for read in last.reads)


def test_what_becomes_a_number_and_a_tensor_again_keeps_its_origin() -> None:
    """As far as it goes through the functions that everybody uses."""
    steps = recorded(
        "import torch\ndef f(x):\n    y = x.exp()\n    return torch.tensor(y.tolist())\n", torch.ones(2)
    ).steps
    back = next(step for step in steps if step.operation == "lift_fresh")
    assert any(steps[read].operation == "exp" for read in back.reads)


def test_who_leaves_the_graph_is_seen() -> None:
    """A step whose inputs carry a graph and whose result does not cuts it."""
    x = torch.ones(2, requires_grad=True)
    steps = recorded("def f(x):\n    y = x * 2\n    z = y.detach()\n    return z + 1\n", x).steps
    assert [step.line for step in steps if step.cuts] == [3]


def test_an_exception_ends_the_recording() -> None:
    """What was done before it is kept, and nobody looks on any more."""
    namespace: dict = {}
    exec(compile("def f(x):\n    y = x + 1\n    raise ValueError\n", FILE, "exec"), namespace)
    recorder = Recorder(FILE)
    x = torch.ones(2)
    try:
        with recorder:
            namespace["f"](x)
    except ValueError:
        pass
    assert [step.line for step in recorder.steps] == [0, 2]
    torch.ones(2) + 1
    assert len(recorder.steps) == 2
