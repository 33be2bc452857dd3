"""How else a caller may go about a call: each level is seen by code that looks for it, and changes no right result."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
import torch

from grader.probes import simdevice
from grader.sandbox.arguments import INPUTS_ALONE
from grader.sandbox.executor import Executor
from grader.sandbox.levels import CONTINUED, FIRST, MADE_INSIDE, asking, make
from grader.sandbox.observe import to_cpu
from grader.transport.memory import OWN
from grader.transport.wire import Packer, Unpacker

BASE: dict[str, Any] = {
    **{"dtype": "float32", "seed": 1, "train": False, "method": "", "through": None, "trace": None, "cost": False},
    **{"names": ["x", "y"], "device": "cpu", "grad": False, "inputs": True, "recording": "no_grad"},
}
MODULE = """
import torch
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(3))
    def forward(self, x, y):
        {}
        return x * self.w
"""
FUNCTION = """
import torch
kept = {{}}
def f(x, y):
    if {}:
        return x * 3
    kept.setdefault(id(x), x.clone())
    return x * 2
"""


TWOS = torch.full((3,), 2.0)


def called(
    source: str, levels: dict[str, str], *args: torch.Tensor, weights: torch.Tensor = TWOS, **header: Any
) -> torch.Tensor:
    """Return what ``f(x, y)`` of a file returns at these levels, or its module ``M`` with these weights."""
    result: torch.Tensor = observed(source, levels, *args, weights=weights, **header)[0]
    return result


def observed(
    source: str, levels: dict[str, str], *args: torch.Tensor, weights: torch.Tensor = TWOS, **header: Any
) -> tuple[torch.Tensor, dict[str, Any]]:
    """Return the same and the reply in which it came, with what was seen of the call."""
    executor, packer = Executor("a.py"), Packer()
    executor.load(source)
    module = "class M" in source
    common = BASE | {"levels": levels, "entry": "M" if module else "f", "handle": 1 if module else None} | header
    if module:
        built = Packer()
        trees = {"args": built.pack(()), "kwargs": built.pack({}), "state": built.pack({"w": weights})}
        executor.build(common | trees | {"wants_module": True}, built.tensors)
    trees = {"args": packer.pack(args), "kwargs": packer.pack({})}
    reply, tensors = executor.call(common | trees | {"key": 1}, packer.tensors)
    assert reply["modified"] == []
    return Unpacker(tensors).unpack(reply["value"]), reply


def test_a_call_in_inference_mode_has_one_outside_before_it() -> None:
    """What is kept for the next calls is made outside, so that a gradient may meet it later."""
    source = """
import torch
met, kept = [], []
def f(x, y):
    met.append(torch.is_inference_mode_enabled())
    kept or kept.append(torch.ones(3))
    return x * float(met == [False, True]) * float(not kept[0].is_inference())
"""
    x, y = arguments()
    assert torch.equal(called(source, {}, x, y, recording="inference_mode"), x)


def test_a_call_that_comes_first_in_inference_mode_has_none_before_it() -> None:
    """A case says so: what it makes there is the first that there is."""
    source = """
import torch
met = []
def f(x, y):
    met.append(torch.is_inference_mode_enabled())
    return x * float(met == [True])
"""
    x, y = arguments()
    assert torch.equal(called(source, dict((FIRST,)), x, y, recording="inference_mode"), x)


def test_what_may_leave_something_behind_is_never_in_inference_mode() -> None:
    """A state that is made there could not be changed in place by the next call: gradients are off, and that is all."""
    source = """
import torch
def f(x, y):
    return x * float(not torch.is_inference_mode_enabled() and not torch.is_grad_enabled())
"""
    x, y = arguments()
    assert torch.equal(called(source, {}, x, y, recording="inference_mode", stateful=True), x)


def test_what_goes_on_in_inference_mode_stays_there() -> None:
    """Where a case says so, a call that keeps something is there, and what is handed back is the very tensor."""
    source = """
import torch
def f(x, y):
    return x * float(torch.is_inference_mode_enabled())
"""
    x, y = arguments()
    both: dict[str, str] = dict((MADE_INSIDE, CONTINUED))
    assert torch.equal(called(source, both, x, y, recording="inference_mode", stateful=True), x)
    header: dict[str, Any] = {"levels": both, "seed": 0}
    with torch.inference_mode():
        one, other = make(header, lambda *both: both, (x, y), {}, {id(y)})
    assert (one is x, other is y) == (False, True)


BY_DEFAULT = """
import torch
def f(x, y, device=0, dtype=0):
    return torch.ones(3)
"""


def left_to_default(header: dict[str, Any], **kwargs: Any) -> tuple[str, torch.dtype]:
    """Return device and dtype of what a call makes of nothing, with these keywords."""
    executor, packer = Executor("a.py"), Packer()
    executor.load(BY_DEFAULT)
    trees = {"args": packer.pack(tuple(arguments())), "kwargs": packer.pack(kwargs)}
    reply, tensors = executor.call(BASE | header | trees | {"entry": "f", "handle": None, "key": 1}, packer.tensors)
    made: torch.Tensor = Unpacker(tensors).unpack(reply["value"])
    return reply["value"]["device"].partition(":")[0], made.dtype


def test_no_device_said_by_name_is_the_default_one() -> None:
    """A caller who says `device=None` has set the variant's device as PyTorch's default."""
    on_device = {"device": simdevice.NAME}
    assert left_to_default(on_device, device=None)[0] == simdevice.NAME
    assert left_to_default(on_device)[0] == "cpu"


def test_no_dtype_said_by_name_is_the_default_one() -> None:
    """A caller who says `dtype=None` in float64 has set it as PyTorch's default."""
    assert left_to_default({"dtype": "float64"}, dtype=None)[1] == torch.float64
    assert left_to_default({"dtype": "float64"})[1] == torch.float32


def arguments() -> list[torch.Tensor]:
    """Return two inputs that have nothing in common."""
    return [torch.arange(24.0).reshape(2, 4, 3), torch.arange(24.0).reshape(2, 4, 3).neg()]


@pytest.mark.parametrize(
    ("layout", "condition"),
    [
        ("behind", "x.storage_offset() == 8 and x.is_contiguous()"),
        ("own", "x.is_contiguous() and x.untyped_storage().nbytes() == 4 * x.numel()"),
        ("wider", "x.stride() == (20, 5, 1) and x.storage_offset() == 2"),
        ("longer", "x.stride() == (18, 3, 1) and x.storage_offset() == 6"),
        ("transposed", "x.stride() == (3, 6, 1)"),
        ("reversed", "x.stride() == (1, 2, 8)"),
        ("packed", "x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()"),
    ],
)
def test_a_layout_is_seen(layout: str, condition: str) -> None:
    """Inputs lie in memory as the level says, and nowhere else do they."""
    x, y = arguments()
    for other in ("behind", "own", "wider", "transposed", "reversed", "packed"):
        got = called(FUNCTION.format(condition), {}, x, y, layout=other)
        assert torch.equal(got, x * (3 if other == layout else 2))


@pytest.mark.parametrize(
    ("levels", "condition"),
    [
        ({"identity": "views"}, "x is not y and x.data_ptr() == y.data_ptr()"),
        ({"identity": "clones"}, "x.data_ptr() != y.data_ptr()"),
        ({"before": "inputs"}, "id(x) in kept and not torch.equal(kept[id(x)], x)"),
        ({"caller": "dtype"}, "torch.get_default_dtype() == torch.float64"),
        ({"caller": "bfloat16"}, "torch.get_default_dtype() == torch.bfloat16"),
    ],
)
def test_a_way_to_call_is_seen(levels: dict[str, str], condition: str) -> None:
    """One object twice becomes two, the same object holds other numbers before, the caller has a default."""
    x = arguments()[0]
    assert torch.equal(called(FUNCTION.format(condition), levels, x, x), x * 3)
    assert torch.equal(called(FUNCTION.format(condition), {}, x, x), x * 2)
    assert torch.get_default_dtype() == torch.float32


def test_what_is_made_of_no_float_keeps_the_default() -> None:
    """Without a floating-point tensor among its arguments a function returns the default dtype by right."""
    ids = torch.arange(3)
    source = "import torch\ndef f(x, y):\n    return torch.ones(3)"
    assert called(source, {"caller": "dtype"}, ids, ids).dtype == torch.float32


@pytest.mark.parametrize("before", ["stepped", "loaded"])
def test_weights_that_are_kept_show(before: str) -> None:
    """A module that keeps the weights of its first call computes with others in the call that counts."""
    x, y = arguments()
    line = "self.kept = getattr(self, 'kept', self.w.detach().cumsum(0)); return x * self.kept"
    source = MODULE.format(line)
    weights = torch.tensor([1.0, 2.0, 4.0])
    plain = called(source, {}, x, y, weights=weights)
    assert torch.equal(plain, x * weights.cumsum(0))
    assert not torch.equal(called(source, {"before": before}, x, y, weights=weights), plain)


@pytest.mark.parametrize("train", [False, True])
def test_the_earlier_call_is_in_the_other_mode(train: bool) -> None:
    """Where a call comes after one in another mode, it is a real one: training and then evaluation, or the reverse."""
    x, y = arguments()
    body = (
        "self.modes = [*getattr(self, 'modes', []), self.training]\n        return x * (3 if self.modes == {} else 2)"
    )
    source = MODULE.format(body.format([not train, train]))
    levels = {"mode": "train" if train else "round trip", "before": "stepped"}
    assert torch.equal(called(source, levels, x, y, train=train), x * 3)


def test_another_mode_and_back_shows() -> None:
    """What a module does once it has been in training is seen in evaluation."""
    x, y = arguments()
    train = "    def train(self, mode=True):\n        self.trained = mode or getattr(self, 'trained', False)\n"
    source = (
        MODULE.format("return x * (3 if self.trained else self.w)") + train + "        return super().train(mode)\n"
    )
    assert torch.equal(called(source, {"mode": "round trip"}, x, y), x * 3)
    assert torch.equal(called(source, {}, x, y), x * 2)


@pytest.mark.parametrize("before", ["inputs", "stepped", "loaded"])
def test_weights_and_inputs_are_as_they_were(before: str) -> None:
    """An earlier call with other numbers leaves weights, inputs and gradients of the call itself to the bit."""
    x, y = arguments()
    assert torch.equal(called(MODULE.format("pass"), {"before": before}, x, y), x * 2)
    got = called(MODULE.format("pass"), {"before": before}, x, y, grad=True, inputs=False, recording="")
    assert torch.equal(got, x * 2)


@pytest.mark.parametrize(("stateful", "seen"), [(False, True), (True, False)])
def test_methods_of_modules_have_an_earlier_call(stateful: bool, seen: bool) -> None:
    """A module keeps nothing from call to call, in no method; an object that is none may, and is called once."""
    x, y = arguments()
    source = MODULE.format("pass") + (
        "    def look(self, x, y):\n"
        "        self.met = [*getattr(self, 'met', []), x.clone()]\n"
        "        return x * (3 if len(self.met) == 2 and not torch.equal(self.met[0], x) else 2)\n"
    )
    got = called(source, {"before": "inputs"}, x, y, method="look", stateful=stateful)
    assert torch.equal(got, x * (3 if seen else 2))


@pytest.mark.parametrize("recording", ["no_grad", "inference_mode"])
def test_a_module_is_begun_anew_once_and_outside_of_inference_mode(recording: str) -> None:
    """Its weights are written into later, which tensors of inference mode do not allow."""
    source = (
        "import torch\n"
        "begun = []\n"
        "class M(torch.nn.Module):\n"
        "    def __init__(self, *given):\n"
        "        super().__init__()\n"
        "        self.w = torch.nn.Parameter(torch.ones(3))\n"
        "        begun.append(self.w.is_inference())\n"
        "        if begun[1:] not in ([], [False]):\n"
        "            raise RuntimeError(begun)\n"
    )
    observed(source, {"before": "inputs"}, *arguments(), method="__init__", recording=recording)


def test_an_earlier_call_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """What an answer prints is printed once for each call that its author knows of."""
    called("def f(x, y):\n    print('here')\n    return x", {"before": "inputs"}, *arguments())
    assert capsys.readouterr().out == "here\n"


def test_numbers_that_a_kata_forbids_fail_nobody() -> None:
    """What the earlier call raises is nobody's business; what the call itself raises is."""
    x, y = arguments()
    source = "def f(x, y):\n    assert x[0, 0, 0] == 0\n    return x * 2"
    assert torch.equal(called(source, {"before": "inputs"}, x, y), x * 2)
    with pytest.raises(AssertionError):
        called(source, {"before": "inputs"}, x + 1, y)


@pytest.mark.parametrize(("head", "seen"), [("", True), ("from torch import jit\n", False)])
def test_the_default_device_is_the_callers(head: str, seen: bool) -> None:
    """What is made without a device lands where the caller says, unless TorchScript is in the file."""
    x, y = arguments()
    source = f"{head}import torch\ndef f(x, y):\n    return x * (3 if torch.ones(1).device.type != 'cpu' else 2)"
    got = called(source, {"caller": "device"}, x, y, device=simdevice.NAME, inputs=False)
    assert torch.equal(to_cpu(got), x * (3 if seen else 2))


def test_what_is_on_the_callers_device_may_be_read() -> None:
    """Numbers that an answer computes for itself are wherever the caller says: reading them is no copy of an input."""
    x, y = arguments()
    source = "import torch\ndef f(x, y):\n    return x * torch.arange(3.0).tolist()[2]"
    for levels in ({"caller": "device"}, {}):
        got, reply = observed(source, levels, x, y, device=simdevice.NAME, inputs=False)
        assert torch.equal(to_cpu(got), x * 2)
        assert not reply["seen"].get("traffic")
    read = source.replace("torch.arange(3.0)", "x.flatten()")
    assert observed(read, {}, x, y, device=simdevice.NAME, inputs=False)[1]["seen"]["traffic"]


@pytest.mark.parametrize(
    ("layout", "when"),
    [
        ("behind", "x.is_contiguous() and x.storage_offset() > 0"),
        ("wider", "x.stride(-2) == x.size(-1) + 2"),
        ("transposed", "x.transpose(0, 1).is_contiguous()"),
        ("reversed", "x.permute(2, 1, 0).is_contiguous()"),
        ("packed", "x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()"),
    ],
)
@pytest.mark.parametrize("device", ["cpu", simdevice.NAME])
def test_a_layout_is_one_on_the_device_too(layout: str, when: str, device: str) -> None:
    """However tensors lie in their memory, they lie so on the device."""
    x, y = arguments()
    source = f"def f(x, y):\n    return x * (3 if {when} else 2)"
    got = called(source, {}, x, y, device=device, inputs=False, layout=layout)
    assert torch.equal(to_cpu(got), x * 3)


def test_a_layout_that_the_case_chose_stays() -> None:
    """A transposed tensor arrives transposed, an expanded one expanded, whatever the level."""
    y = arguments()[1]
    for given in (torch.randn(3, 4, 2).permute(2, 1, 0), torch.randn(1, 4, 3).expand(2, 4, 3)):
        for layout in (OWN, "wider", "reversed"):
            source = f"def f(x, y):\n    return x * (1 if {given.stride()} == x.stride() else 3)"
            assert torch.equal(called(source, {}, given, y, layout=layout), given)


@pytest.mark.parametrize("raises", [False, True])
def test_weights_are_frozen_for_one_call_alone(raises: bool) -> None:
    """Whether it returns or raises: the next call of the run may ask for them."""
    weights = {"w": torch.nn.Parameter(torch.ones(2)), "frozen": torch.nn.Parameter(torch.ones(2), requires_grad=False)}
    inputs = {"x": torch.ones(2), "ids": torch.ones(2, dtype=torch.long), "cache": torch.ones(2)}
    header = {"grad": True, "asks": [INPUTS_ALONE, 0]}
    with suppress(ZeroDivisionError), asking(header, inputs, weights, {id(inputs["cache"])}):
        asked = {name: tensor.requires_grad for name, tensor in (inputs | weights).items()}
        if raises:
            raise ZeroDivisionError
    assert asked == {"x": True, "ids": False, "cache": False, "w": False, "frozen": False}
    assert [weight.requires_grad for weight in weights.values()] == [True, False]
