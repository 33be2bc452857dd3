"""Facts about the simulated device itself, for a process in which it is registered."""

from __future__ import annotations

import threading
import traceback
from pathlib import Path

import torch
from torch import nn

from battery import bugs
from grader.probes import simdevice
from grader.probes.simdevice import module_to_sim, to_cpu, to_sim, watch
from grader.probes.steps import Recorder

FACTS = {}


def fact(function):
    """Register a fact; its docstring says which."""
    FACTS[function.__name__] = function
    return function


def holds(function):
    """Return "" where a fact holds, else the traceback."""
    try:
        function()
    except Exception:  # noqa: BLE001 - reported with the fact's name
        return f"{function.__doc__}\n{traceback.format_exc()}"
    return ""


def line_of(text):
    """Return the line of this file that ends in a comment with the text."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {text}"))


@fact
def it_is_available_again_and_again():
    """Asking a second time registers nothing anew."""
    assert simdevice.available() == simdevice.available() == ""
    assert simdevice.register() == simdevice.register() == torch.device("sim:0")


@fact
def the_probe_leaves_random_numbers_alone():
    """A seed set before the probe gives the same numbers after it."""
    torch.manual_seed(1)
    want = torch.rand(3)
    torch.manual_seed(1)
    simdevice.available()
    assert torch.equal(torch.rand(3), want)


@fact
def a_tensor_is_a_plain_one():
    """No subclass, and a leaf with the same requires_grad, which does not share memory with its source."""
    source = torch.ones(2, 3, requires_grad=True)
    there = to_sim(source)
    assert type(there) is torch.Tensor
    assert there.is_leaf
    assert there.requires_grad
    assert there.device.type == "sim"
    with torch.no_grad():
        there.zero_()
    assert source.sum().item() == 6
    assert not to_sim(torch.arange(3)).requires_grad


@fact
def every_dtype_and_layout_crosses():
    """Numbers, bools and complex values come back as they went."""
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool):
        source = torch.arange(6).reshape(2, 3).to(dtype).mT
        assert torch.equal(to_cpu(to_sim(source)), source)
        assert to_sim(source).stride() == source.stride()
    for source in (torch.ones(2, 2, dtype=torch.complex64).mul(1j), torch.tensor(3.0), torch.empty(0, 4)):
        assert torch.equal(to_cpu(to_sim(source)), source)


@fact
def a_module_moves_as_with_to():
    """Parameters and buffers move and tied ones stay tied; a plain attribute stays behind; nothing is logged."""
    module = nn.Module()
    module.layer, module.tied = nn.Linear(2, 2), nn.Linear(2, 2)
    module.tied.weight = module.layer.weight
    module.register_buffer("table", torch.ones(2))
    module.plain, module.weights = torch.ones(2), [module.layer.weight]
    with watch(__file__) as events:
        assert module_to_sim(module) is module
    assert events == []
    assert {str(parameter.device) for parameter in module.parameters()} == {"sim:0"}
    assert module.tied.weight is module.layer.weight is module.weights[0]
    assert isinstance(module.layer.weight, nn.Parameter)
    assert module.layer.weight.is_leaf
    assert (module.table.device.type, module.plain.device.type) == ("sim", "cpu")


@fact
def a_module_may_move_more_than_torch_does():
    """An answer that overrides _apply moves its plain attributes itself, and is honoured."""

    class Careful(nn.Module):
        def __init__(self):
            super().__init__()
            self.plain = torch.ones(2)

        def _apply(self, fn, recurse=True):
            self.plain = fn(self.plain)
            return super()._apply(fn, recurse)

    assert module_to_sim(Careful()).plain.device.type == "sim"


@fact
def traffic_is_logged_by_kind():
    """Reads, copies and data-dependent shapes are events of their kind, with their sizes."""
    x = to_sim(torch.randn(2, 3))
    with watch(__file__) as events:
        x.max().item()
        bool((x > 0).any())
        x.cpu()
        torch.zeros(3).to(x.device)
        x[x > 9]
        torch.zeros(6).view(2, 3).copy_(x)
        torch.equal(x, x)
        x.nonzero()
    kinds = [(event.kind, event.numel) for event in events]
    assert [kind for kind, _ in kinds] == ["item", "item", "d2h", "h2d", "sync", "sync", "d2h", "item", "sync"], kinds
    assert [numel for kind, numel in kinds if kind in ("d2h", "h2d")] == [6, 3, 6]


@fact
def an_event_has_the_innermost_line():
    """The line is that of the file asked for, inside the innermost function of it; 0 where it is not on the stack."""
    x = to_sim(torch.ones(2))

    def inner():
        return x.cpu()  # the copy

    with watch(__file__) as events:
        inner()
    assert [event.line for event in events] == [line_of("the copy")]
    with watch("another.py") as events:
        inner()
    assert [event.line for event in events] == [0]


@fact
def an_event_on_another_thread_has_a_line():
    """A thread without a frame of the file is charged to the line that waits for it."""
    x = to_sim(torch.ones(2))
    with watch(__file__) as events:
        thread = threading.Thread(target=x.cpu)
        thread.start()
        thread.join()
    assert [event.kind for event in events] == ["d2h"]
    assert events[0].line


@fact
def lengths_of_a_packed_batch_are_asked_for():
    """Packing takes its lengths from the CPU alone: that copy is nothing, another one is judged, the device refused."""
    x, lengths = to_sim(torch.ones(2, 4, 3)), to_sim(torch.tensor([4, 2]))
    with watch(__file__) as events:
        nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True)
        assert simdevice.judge_events(events) == ([], [])
        lengths.cpu()
    failures, _ = simdevice.judge_events(events)
    assert len(failures) == 1
    try:
        nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
    except RuntimeError as error:
        assert "CPU" in str(error)  # noqa: PT017 - this runs without pytest
    else:
        raise AssertionError


@fact
def numbers_put_there_are_steps():
    """What is made of Python's numbers on the device, or taken by a list of them, is a step of its line."""
    x = to_sim(torch.arange(12.0).view(3, 4))

    def make(tensor):
        rows = torch.tensor([2, 0], device=tensor.device)
        return tensor[rows] + tensor[[0, 1]] + tensor.new_tensor([1.0, 2.0, 3.0, 4.0])

    with Recorder(__file__) as recorder:
        made = make(x)
    assert torch.equal(to_cpu(made), make(to_cpu(x)))
    operations = [step.operation for step in recorder.steps if step.line]
    assert operations == ["lift_fresh", "index", "index", "add", "lift_fresh", "add"]
    assert all(step.device == x.device.type for step in recorder.steps)


@fact
def printing_is_marked():
    """What print() copies is marked and judged to be nothing."""
    x = to_sim(torch.ones(2, 2))
    with watch(__file__) as events:
        repr(x)
        f"{x}"
    assert events
    assert all(event.excused for event in events)
    assert simdevice.judge_events(events) == ([], [])


@fact
def a_factory_with_a_device_is_no_traffic():
    """torch.tensor(list, device=...) is how a constant is made; torch.as_tensor of a CPU tensor is a copy."""
    device = simdevice.register()
    with watch(__file__) as events:
        torch.tensor([1.0, 2.0], device=device)
        to_sim(torch.ones(1)).new_tensor([1.0, 2.0])
        torch.as_tensor([1, 2], device=device)
    assert events == []
    with watch(__file__) as events:
        torch.as_tensor(torch.ones(2), device=device)
    assert [event.kind for event in events] == ["h2d"]


@fact
def two_logs_at_once():
    """Each open log has every event with the lines of its own file."""
    x = to_sim(torch.ones(2))
    with watch(__file__) as outer:
        with watch("another.py") as inner:
            x.cpu()
        x.cpu()
    assert [len(outer), len(inner)] == [2, 1]
    assert outer[0].line
    assert not inner[0].line


@fact
def mixing_devices_names_the_argument():
    """The message is PyTorch's own and says which argument is where."""
    message = ""
    try:
        to_sim(torch.ones(2, 2)).masked_fill(torch.ones(2, 2, dtype=torch.bool), 0.0)
    except RuntimeError as error:
        message = str(error)
    assert message.startswith(
        "Expected all tensors to be on the same device, but found at least two devices, sim:0 and cpu!"
    )
    assert "argument 'mask'" in message
    assert "shape (2, 2), is on cpu" in message


@fact
def gradients_stay_on_the_device():
    """A gradient arrives where its parameter is, also on the device's own backward thread."""
    layer = module_to_sim(nn.Linear(3, 2))
    x = to_sim(torch.ones(4, 3)).requires_grad_()
    with watch(__file__) as events:
        layer(x).square().sum().backward()
    assert (x.grad.device.type, layer.weight.grad.device.type) == ("sim", "sim")
    assert events == []


@fact
def a_view_shares_memory_and_versions():
    """A write through a view is seen in its base and spoils a saved tensor as it does on any device."""
    x = to_sim(torch.zeros(2, 3))
    version = x._version
    x.mT[0].fill_(1.0)
    assert to_cpu(x).tolist() == [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    assert x._version > version
    leaf = to_sim(torch.ones(3)).requires_grad_()
    y = leaf.exp()
    y[0] = 0.0
    message = ""
    try:
        y.sum().backward()
    except RuntimeError as error:
        message = str(error)
    assert "modified by an inplace operation" in message


@fact
def bugs_have_lines_of_their_own():
    """The file of the wrong snippets is the one that their lines are looked up in."""
    assert bugs.round_trip.__code__.co_filename == bugs.__file__
