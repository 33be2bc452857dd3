"""What the executor notices of a call, and what it hands on."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.probes import simdevice
from grader.sandbox import lazy
from grader.sandbox.executor import Executor
from grader.sandbox.guest import PACKAGE_ROOT, without_ours
from grader.transport.wire import Packer, Unpacker

BASE: dict[str, Any] = {
    "dtype": "float32",
    "seed": 1,
    "handle": None,
    "train": False,
    "entry": "f",
    "method": "",
    "names": ["x"],
    "through": None,
    "trace": None,
    "cost": False,
}


def call(source: str, x: torch.Tensor, *, device: str = "cpu", grad: bool = False) -> dict[str, Any]:
    """Call ``f(x)`` of a file; returns the reply."""
    executor, packer = Executor("a.py"), Packer()
    executor.load(source)
    trees = {"args": packer.pack((x,)), "kwargs": packer.pack({})}
    header = BASE | trees | {"key": 1, "device": device, "grad": grad, "inputs": not grad}
    return executor.call(header, packer.tensors)[0]


@pytest.mark.parametrize("device", ["cpu", simdevice.NAME])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    ("line", "is_changed"),
    [
        ("x[x == -torch.inf] = torch.finfo(x.dtype).min", True),
        ("x[x.isnan()] = 0.0", True),
        ("x[x == 0] = -0.0", True),
        ("x[x == 1] = 1.0", False),
        ("y = x + 1", False),
    ],
)
def test_a_changed_input_is_noticed_to_the_bit(device, dtype, line, is_changed) -> None:
    """What holds other bits than before has changed; NaN that nobody touched has not."""
    x = torch.tensor([1.0, 0.0, -torch.inf, torch.inf, torch.nan], dtype=dtype)
    reply = call(f"import torch\ndef f(x):\n    {line}\n    return x + 0", x, device=device)
    assert reply["modified"] == (["x"] if is_changed else [])


PAIR = """
import torch
class Pair(tuple):
    more = ()
def f(x):
    if isinstance(x, tuple):
        return torch.tensor(float(len(getattr(x, "more", ()))))
    pair = Pair((x, x + 1))
    pair.more = (1, 2, 3)
    return pair
"""


class Returned:
    """What the call of key 1 returned."""

    def packed(self) -> dict[str, Any]:
        """Return its node."""
        return {"returned": 1, "path": []}


@pytest.mark.parametrize(("recording", "more"), [("no_grad", 3.0), ("inference_mode", 0.0)])
def test_a_tuple_that_was_returned_comes_back_with_what_hangs_on_it(recording: str, more: float) -> None:
    """As a caller hands it on; of what was made in inference mode the tensors alone, which nobody can write into."""
    executor = Executor("a.py")
    executor.load(PAIR)
    for key, given in enumerate((torch.ones(2), Returned()), 1):
        packer = Packer()
        trees = {"args": packer.pack((given,)), "kwargs": packer.pack({})}
        header = BASE | trees | {"key": key, "device": "cpu", "grad": False, "inputs": True, "recording": recording}
        reply, tensors = executor.call(header, packer.tensors)
    assert Unpacker(tensors).unpack(reply["value"]) == more


def test_an_expanded_input_is_differentiated_entry_by_entry() -> None:
    """as_strided gets the same gradient as all else: the leaf has memory of its own for each entry."""
    x = torch.randn(1, 3, dtype=torch.float64).expand(4, 3)
    source = "import torch\ndef f(x):\n    assert x.stride() == (3, 1)\n    return x.as_strided((4, 3), x.stride())"
    assert call(source, x, grad=True)["kind"] == "value"


def test_a_tuple_with_its_own_constructor_is_handed_on_as_a_plain_one() -> None:
    """What an answer derived from tuple or list comes back without its constructor; a named tuple keeps its names."""
    source = """
from typing import NamedTuple
class Own(tuple):
    def __new__(cls, first, second):
        return super().__new__(cls, (first, second))
class Named(NamedTuple):
    keys: object
    values: object
def make(x):
    return {"own": Own(x, x + 1), "named": Named(x, x + 1)}
def f(x):
    assert type(x["own"]) is tuple
    return x["own"][0] + x["named"].values
"""
    executor = Executor("a.py")
    executor.load(source)
    packer = Packer()
    trees = {"args": packer.pack((torch.ones(2),)), "kwargs": packer.pack({})}
    common = BASE | {"device": simdevice.NAME, "grad": False, "inputs": True}
    executor.call(common | trees | {"entry": "make", "key": 1}, packer.tensors)
    own, named = ({"returned": 1, "path": [name]} for name in ("own", "named"))
    trees = {"args": {"p": [{"d": [["own", own], ["named", named]]}]}, "kwargs": packer.pack({})}
    assert executor.call(common | trees | {"key": 2}, {})[0]["kind"] == "value"


def test_what_a_file_will_need_is_foreseen_from_its_names() -> None:
    """A name in a comment or a text imports nothing; one in the code or its imports does."""
    assert lazy.foreseen("# checkpoint\ns = 'broadcast_shapes'\n") == []
    assert lazy.foreseen("from torch.utils.checkpoint import checkpoint as c") == ["torch._dynamo"]
    assert lazy.foreseen("torch.optim.AdamW(params)") == ["torch._dynamo"]
    assert lazy.foreseen("def train_step(optimizer: torch.optim.Optimizer): ...") == []
    assert lazy.foreseen("torch.broadcast_shapes(a, b)") == ["torch.fx.experimental.symbolic_shapes"]
    assert lazy.foreseen("import torch.nn.functional as F\nF.softmax(x, -1)") == []
    assert lazy.foreseen("def (") == []


def test_the_clone_is_no_place_to_import_from() -> None:
    """From a clone modules are looked for in the folders of packages alone."""
    assert without_ours(["", PACKAGE_ROOT, "/packages"]) == ["/packages"]


def test_the_folder_of_torch_stays_where_kata_lies_beside_it(monkeypatch) -> None:
    """Installed into one folder with torch, kata leaves that folder among those where modules are looked for."""
    monkeypatch.setattr(torch, "__file__", f"{PACKAGE_ROOT}/torch/__init__.py")
    assert without_ours(["", PACKAGE_ROOT, "/packages"]) == [PACKAGE_ROOT, "/packages"]
