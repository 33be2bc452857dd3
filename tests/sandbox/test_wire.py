"""What goes over the wire comes back as it was: frames, values, views, tensors that are one object."""

from __future__ import annotations

import json
import math

import pytest
import torch

from grader.transport.wire import (
    DeviceName,
    Foreign,
    Packer,
    Unpacker,
    WireError,
    dtype_name,
    dtype_named,
    frame,
    frame_length,
    load,
    parse_frame,
    save,
    strings,
    tensors_in,
)


def sent(value):
    """Return a value as it arrives at the other end."""
    packer = Packer()
    message = frame({"value": packer.pack(value)}, save(packer.tensors))
    header, payload = parse_frame(message)
    return Unpacker(load(payload)).unpack(header["value"])


def test_frames() -> None:
    """A frame tells its length as soon as its prefix is there, and is split into what was put in."""
    message = frame({"op": "call", "ünï": [1, None]}, b"\0payload")
    for cut in range(16):
        assert frame_length(message[:cut]) is None
    assert frame_length(message[:16]) == frame_length(message + b"the next one") == len(message)
    assert parse_frame(message) == ({"op": "call", "ünï": [1, None]}, b"\0payload")


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, False, 0, -(2**70), 0.1, math.inf, "text \0 \u202e \U0001f600", ""),
        *((), [], {}, (1, [2.5, ("x",)], {"key": None}), {"a": {"b": ({},)}}),
    ],
)
def test_plain_values(value) -> None:
    """Numbers, texts, tuples, lists and dicts keep their types and their nesting."""
    assert repr(sent(value)) == repr(value)


def test_dtypes_and_devices() -> None:
    """A dtype is a dtype again, a device that was named by us is a device."""
    assert sent((torch.bfloat16, torch.bool)) == (torch.bfloat16, torch.bool)
    assert sent({"device": DeviceName("cpu")}) == {"device": torch.device("cpu")}
    assert dtype_named(dtype_name(torch.float16)) is torch.float16


def test_what_cannot_be_sent() -> None:
    """A value of another kind is refused by the sender."""
    with pytest.raises(TypeError, match="cannot send generator"):
        Packer().pack([(x for x in "ab")])


DTYPES = [
    *(torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool),
    *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=dtype_name)
@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 3), (2, 0, 3), (1,) * 9], ids=str)
def test_tensors(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    """Every dtype and shape arrives bit for bit."""
    tensor = torch.randint(0, 2, shape).to(dtype)
    got = sent(tensor)
    assert (got.dtype, got.shape) == (dtype, torch.Size(shape))
    assert torch.equal(got, tensor)


def test_special_numbers() -> None:
    """NaN, infinities and zeros of both signs arrive as such."""
    tensor = torch.tensor([math.nan, math.inf, -math.inf, -0.0, 0.0, 1e-45])
    assert torch.equal(sent(tensor).view(torch.int32), tensor.view(torch.int32))


def test_many_tensors_of_several_dtypes() -> None:
    """They do not get mixed up."""
    value = {f"{dtype}{n}": torch.full((n, 2), n).to(dtype) for n in range(5) for dtype in (torch.float32, torch.int64)}
    got = sent(value)
    assert list(got) == list(value)
    assert all(torch.equal(got[key], value[key]) and got[key].dtype == value[key].dtype for key in value)


VIEWS = {
    "transposed": torch.arange(24.0).view(2, 3, 4).transpose(0, 2),
    "permuted": torch.arange(24.0).view(2, 3, 4).permute(1, 2, 0),
    "sliced": torch.arange(24.0).view(2, 3, 4)[:, 1:, ::2],
    "expanded": torch.arange(3.0).view(1, 3, 1).expand(2, 3, 4),
    "expanded and transposed": torch.arange(12.0).view(3, 1, 4).expand(3, 2, 4).transpose(0, 2),
    "expanded scalar": torch.tensor(2.0).expand(3, 4),
    "expanded to nothing": torch.zeros(1, 3).expand(0, 3),
    "one row": torch.arange(6.0).view(1, 6).expand(1, 6),
}


@pytest.mark.parametrize("tensor", VIEWS.values(), ids=VIEWS)
def test_views(tensor: torch.Tensor) -> None:
    """A view arrives with its values; what was not contiguous, or shared memory between entries, still does."""
    got = sent(tensor)
    assert got.shape == tensor.shape
    assert torch.equal(got, tensor)
    if tensor.numel():
        shared = [stride == 0 and size > 1 for stride, size in zip(tensor.stride(), tensor.shape, strict=True)]
        assert [s == 0 and n > 1 for s, n in zip(got.stride(), got.shape, strict=True)] == shared
        dense = tensor.numel() == tensor.untyped_storage().nbytes() // tensor.element_size()
        assert not dense or got.stride() == tensor.stride()


def test_the_same_tensor_stays_one_object() -> None:
    """`mha(x, x, x)` arrives with one x; an equal one is another object."""
    x = torch.randn(2, 3)
    first, second, other = sent((x, [x], x.clone()))
    assert first is second[0]
    assert other is not first
    assert torch.equal(other, first)


def test_what_arrives_is_independent() -> None:
    """What the receiver writes into one tensor shows in no other, and not in what was sent."""
    x = torch.zeros(3)
    first, second = sent((x, x.clone()))
    first += 1
    assert second.tolist() == x.tolist() == [0.0] * 3


def test_gradients_stay_at_home() -> None:
    """A tensor with a graph is sent by its values."""
    assert sent(torch.ones(2, requires_grad=True) * 2).requires_grad is False


def test_foreign_values() -> None:
    """What could not travel arrives as its description, cut to a length."""
    value = Unpacker({}).unpack({"x": "a generator" + "!" * 1000})
    assert isinstance(value, Foreign)
    assert value.what.startswith("a generator!")
    assert len(value.what) <= 300


class Kept:
    """Stands for a result that is kept over there."""

    def packed(self) -> dict[str, object]:
        """Return its node."""
        return {"returned": 7, "path": [1, "k"]}


def test_what_an_answer_returned() -> None:
    """Its own result is handed back to an answer by name; on the judge's side there is nothing of that name."""
    node = Packer().pack((Kept(), 2))
    assert Unpacker({}, lambda key, path: (key, path)).unpack(node) == ((7, [1, "k"]), 2)
    with pytest.raises(WireError):
        Unpacker({}).unpack(node)


def test_tensors_of_a_tree() -> None:
    """They come left to right, however deep."""
    one, two, three = (torch.tensor(n) for n in range(3))
    assert [int(t) for t in tensors_in([one, {"a": (two, 5), "b": three}, "x"])] == [0, 1, 2]


def test_lists_of_names() -> None:
    """Only a list of texts of reasonable length is one."""
    assert strings(["a", "b"]) == ["a", "b"]
    for bad in ("ab", None, {"a": 1}, ["a", 1], ["a"] * 65):
        with pytest.raises(WireError):
            strings(bad)


def test_headers_are_json() -> None:
    """Nothing but JSON is in a header."""
    message = frame({"a": 1})
    assert json.loads(message[16:]) == {"a": 1}
