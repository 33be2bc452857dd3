"""Forbidden calls are found by every route and named with their line; honest code is left alone."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
from torch.overrides import _get_current_function_mode_stack

from grader.probes import tracer

HERE = Path(__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(HERE.parents[1]), "OMP_NUM_THREADS": "1"}
# snippets of the battery that compare torch's own attention on two devices
FUSED = {
    "fused",
    "fused_causal",
    "fused_with_a_mask",
    "torch_attention_in_training",
    "torch_attention_in_evaluation",
    "torch_encoder_layer",
    "torch_decoder_layer",
}


def snippets():
    """Return name -> (what has to be found, whether only spies see it), without running the snippets' imports."""
    tree = ast.parse((HERE / "tracing" / "calls.py").read_text(encoding="utf-8"))
    constants = {"FUSED": "torch.nn.functional.scaled_dot_product_attention"}
    found = {}
    for node in tree.body:
        for decorator in getattr(node, "decorator_list", []):
            kind = getattr(getattr(decorator, "func", None), "id", "")
            if kind == "fine":
                found[node.name] = ("", False)
            elif kind == "forbidden":
                first = decorator.args[0]
                name = constants[first.id] if isinstance(first, ast.Name) else first.value
                found[node.name] = (name, any(keyword.arg == "spies" for keyword in decorator.keywords))
    return found


SNIPPETS = snippets()
pytestmark = pytest.mark.xdist_group("tracer")


@pytest.fixture(scope="module")
def report():
    """Return what one process saw: spies cannot be taken out of the dispatcher again."""
    command = [sys.executable, str(HERE / "traced.py")]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_call_is_found_once_with_its_line(report, name):
    """With spies in the dispatcher every route is seen, and reported as one call; allowed calls are not."""
    expected = SNIPPETS[name][0]
    found = report["spies"][name]
    assert [call[0] for call in found] == ([expected] if expected else []), found
    if expected:
        assert found[0][1] in report["expected"][name] or (not report["expected"][name] and found[0][1])


@pytest.mark.parametrize("name", [name for name, (_, spies) in SNIPPETS.items() if not spies])
def test_hooks_alone_see_the_ordinary_routes(report, name):
    """Where no spies are installed, all that stays in Python on one thread is seen all the same."""
    assert [call[0] for call in report["hooks"][name]] == [call[0] for call in report["spies"][name]]


def test_results_of_honest_code_are_unchanged(report):
    """Under the tracer and with spies, values and gradients are those without, to the last bit.

    torch's own module in evaluation takes its slow path under a function mode; it is out of bounds anyway.
    """
    changed = {name for name, entry in report["battery"].items() if not entry["same"]}
    assert changed <= {"torch_attention_in_evaluation"}


def test_honest_code_is_not_charged(report):
    """Of the whole battery only the snippets that do call torch's own attention are charged with it."""
    assert {name for name, entry in report["battery"].items() if entry["calls"]} == FUSED


def test_watching_does_not_import_the_compiler(report):
    """The probes cost milliseconds; an import of torch._dynamo would cost seconds in each sandbox."""
    assert report["compiler"] is False


def test_an_unknown_name_is_refused():
    """A misspelt name in a kata's list would forbid nothing."""
    for name in ("torch.sofmax", "torch.nowhere.softmax", "softmax", "torch.nn.Linear.*"):
        with pytest.raises(ValueError, match="torch"), tracer.trace("answer.py", forbidden=[name]):
            pass


GRADIENTS = """
import torch
x = torch.ones(3, requires_grad=True)
def asked():
    return torch.autograd.grad(x.square().sum(), x)
def called():
    x.square().sum().backward()
def transformed():
    return torch.func.vjp(torch.sin, x.detach())[1](x.detach())
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            y = g.detach().requires_grad_()
            return torch.autograd.grad(y.sum(), y)[0]
own = Own.apply
"""
AUTOGRAD = ("torch.autograd.grad", "torch.Tensor.backward", "torch.func.vjp")


@pytest.mark.parametrize("frames", [True, False])
@pytest.mark.parametrize(
    ("asks", "said"), [("asked", AUTOGRAD[0]), ("called", AUTOGRAD[1]), ("transformed", AUTOGRAD[2])]
)
def test_autograd_can_be_out_of_bounds(asks, said, frames):
    """A kata may forbid that a file asks for gradients; the functions of torch.func are written in Python."""
    namespace = {}
    exec(compile(GRADIENTS, "answer.py", "exec"), namespace)
    with tracer.trace("answer.py", forbidden=AUTOGRAD, frames=frames) as calls:
        namespace[asks]()
    assert said in [call.name for call in calls] or (asks == "transformed" and not frames)


@pytest.mark.parametrize("frames", [True, False])
def test_the_grader_may_ask_for_gradients_of_what_may_not(frames):
    """It differentiates results of a file under the tracer; what a backward pass of the file's own asks is seen."""
    namespace = {}
    exec(compile(GRADIENTS, "answer.py", "exec"), namespace)
    x = namespace["x"]
    with tracer.trace("answer.py", forbidden=AUTOGRAD, frames=frames) as calls:
        torch.autograd.grad(x.square().sum(), x)
    assert calls == []
    with tracer.trace("answer.py", forbidden=AUTOGRAD) as calls:
        torch.autograd.grad(namespace["own"](x).sum(), x)
    assert [call.name for call in calls] == ["torch.autograd.grad"]


def test_the_tracer_leaves_nothing_behind():
    """Profile functions and modes are as before, also after an exception in the block."""
    before = sys.getprofile(), threading.getprofile(), len(_get_current_function_mode_stack())
    with pytest.raises(KeyError), tracer.trace("answer.py"):
        raise KeyError
    assert (sys.getprofile(), threading.getprofile(), len(_get_current_function_mode_stack())) == before


def test_the_common_list_is_the_contract_of_the_katas():
    """CATALOG.md names these as out of bounds everywhere."""
    assert set(tracer.COMMON_FORBIDDEN) == {
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
        "torch.nn.Transformer*",
        "torch.nn.attention.*",
        "torch.masked.softmax",
    }
