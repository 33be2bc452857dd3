"""Whatever is malformed raises WireError and nothing else, quickly and without allocating what it announces."""

from __future__ import annotations

import copy
import json
import random
import struct

import pytest
import torch

from grader.transport.wire import (
    MAX_HEADER,
    MAX_PAYLOAD,
    MAX_TENSOR_HEADER,
    PREFIX,
    Packer,
    Unpacker,
    WireError,
    frame,
    frame_length,
    load,
    parse_frame,
    save,
)


def nested(depth: int, opening: str, closing: str, inside: str = "") -> str:
    """Return brackets in brackets."""
    return opening * depth + inside + closing * depth


# --- frames -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "start", [b"kata", b"\0", b"HTTP/1.1 200", b"KAT\0", b"KATB" + bytes(12), b"K4", b"\x80\x04\x95"], ids=repr
)
def test_another_start(start: bytes) -> None:
    """Bytes that begin otherwise are refused at the first wrong one."""
    with pytest.raises(WireError, match="does not start with the mark"):
        frame_length(start)


@pytest.mark.parametrize(
    ("header", "payload"),
    [(MAX_HEADER + 1, 0), (2**32 - 1, 0), (0, MAX_PAYLOAD + 1), (2, 2**64 - 1), (2**32 - 1, 2**64 - 1)],
)
def test_announced_sizes(header: int, payload: int) -> None:
    """What announces too much is refused before any of it arrived."""
    with pytest.raises(WireError, match="more than is allowed"):
        frame_length(PREFIX.pack(b"KATA", header, payload))


def test_the_largest_sizes() -> None:
    """The caps themselves are allowed."""
    assert frame_length(PREFIX.pack(b"KATA", MAX_HEADER, MAX_PAYLOAD)) == PREFIX.size + MAX_HEADER + MAX_PAYLOAD


@pytest.mark.parametrize(
    "header",
    [
        *(b"", b"{", b"[1]", b"null", b"7", b'"text"', b"{'a': 1}", b"\xff\xfe{}", b"\x80\x04N.", b"{}{}"),
        *(nested(100_000, "[", "]").encode(), nested(40_000, '{"a":', "}", "1").encode()),
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
    ids=lambda header: repr(header[:12]),
)
def test_headers(header: bytes) -> None:
    """A header is one JSON object; nesting without end and endless numbers are no way to end the judge."""
    with pytest.raises(WireError, match="header of the reply"):
        parse_frame(PREFIX.pack(b"KATA", len(header), 0) + header)


# --- tensors ----------------------------------------------------------------------------------------------------------


def tensors(header: object, data: bytes = b"", announced: int | None = None) -> bytes:
    """Return the bytes of a safetensors file with this header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if announced is None else announced) + text + data


def entry(shape: object = (2,), offsets: object = (0, 8), dtype: object = "F32") -> dict[str, object]:
    """Return the description of one tensor."""
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


ONE = {"a": entry()}
EIGHT = bytes(8)
REFUSED = {
    "too short for a length": b"\0" * 7,
    "no header": bytes(8),
    "length beyond the end": tensors(ONE, EIGHT, announced=10_000),
    "length of 2**64 - 1": tensors(ONE, EIGHT, announced=2**64 - 1),
    "huge header": tensors(b"{" + b" " * MAX_TENSOR_HEADER + b"}"),
    "not JSON": tensors(b"{nonsense}"),
    "not UTF-8": tensors(b'{"\xff": 1}'),
    "a list": tensors([ONE]),
    "deep nesting": tensors(nested(30_000, "[", "]").encode()),
    "deep nesting in a shape": tensors(
        b'{"a":{"dtype":"F32","data_offsets":[0,8],"shape":' + nested(900, "[", "]").encode() + b"}}", EIGHT
    ),
    "a number for a tensor": tensors({"a": 1}, EIGHT),
    "a shape that is a number": tensors({"a": entry(shape=5)}, EIGHT),
    "a shape that is null": tensors({"a": entry(shape=None)}, EIGHT),
    "a shape of texts": tensors({"a": entry(shape=["2"])}, EIGHT),
    "a shape of fractions": tensors({"a": entry(shape=[2.0])}, EIGHT),
    "a shape of booleans": tensors({"a": entry(shape=[True, 2])}, EIGHT),
    "a negative length": tensors({"a": entry(shape=[-2])}, EIGHT),
    "two negative lengths": tensors({"a": entry(shape=[-1, -2])}, EIGHT),
    "lengths that wrap around": tensors({"a": entry(shape=[2**33, 2**31 + 1])}, EIGHT),
    "a length beyond 64 bits": tensors({"a": entry(shape=[2**70])}, EIGHT),
    "more than is there": tensors({"a": entry(shape=[1000])}, EIGHT),
    "no shape": tensors({"a": {"dtype": "F32", "data_offsets": [0, 8]}}, EIGHT),
    "no offsets": tensors({"a": {"dtype": "F32", "shape": [2]}}, EIGHT),
    "offsets backwards": tensors({"a": entry(offsets=[8, 0])}, EIGHT),
    "offsets beyond the end": tensors({"a": entry(offsets=[8, 16])}, EIGHT),
    "a gap": tensors({"a": entry(), "b": entry(offsets=[12, 20])}, bytes(20)),
    "an overlap": tensors({"a": entry(), "b": entry(offsets=[4, 12])}, bytes(12)),
    "bytes left over": tensors(ONE, bytes(9)),
    "an unknown dtype": tensors({"a": entry(dtype="F31")}, EIGHT),
    "a dtype that torch lacks": tensors({"a": entry(shape=[16], dtype="F4")}, EIGHT),
    "a thousand dimensions": tensors({"a": entry(shape=[1] * 999 + [2])}, EIGHT),
    "seventeen dimensions": tensors({"a": entry(shape=[1] * 16 + [2])}, EIGHT),
    "too many tensors": tensors({str(n): entry(shape=[0], offsets=[0, 0]) for n in range(257)}),
    "a pickle": b"\x80\x04\x95" + bytes(40),
    "a zip": b"PK\x03\x04" + bytes(40),
}


@pytest.mark.parametrize("payload", REFUSED.values(), ids=REFUSED)
def test_payloads(payload: bytes) -> None:
    """A payload that is not what safetensors would write is refused."""
    with pytest.raises(WireError, match="tensor"):
        load(payload)


@pytest.mark.parametrize(
    "payload",
    [
        tensors({"a": entry(shape=[0, 2**62], offsets=[0, 0])}),
        tensors(b'{"a": %b, "a": %b}' % ((json.dumps(entry()).encode(),) * 2), EIGHT),
        tensors({"__metadata__": {"a": "b"}, "a": entry()}, EIGHT),
    ],
    ids=["empty and endless", "twice the same key", "metadata"],
)  # fmt: skip
def test_what_safetensors_accepts(payload: bytes) -> None:
    """Strange and harmless: tensors that take no more memory than their bytes, or a refusal."""
    try:
        loaded = load(payload)
    except WireError:
        return
    assert sum(tensor.numel() for tensor in loaded.values()) <= 4


# --- values -----------------------------------------------------------------------------------------------------------


VALUE = {"result": (torch.randn(2, 3), [torch.arange(4)], torch.randn(2, 3).t()), "expanded": torch.ones(1).expand(5)}
JUNK = [
    *(None, True, -1, 0, 3, 2**31, 2**63, 2**70, 0.5, 1e308, "", "float32", "0", "\ud800"),
    *([], [0], [-1], [2**62, 0], [2**62, 2**62], [1] * 40, [[0], [1]], ["0"], [None], [0, 0], [1, 0], [1.5], [True]),
    *({}, {"t": "float32"}, {"0": 0}, {"p": 3}, {"x": []}, {"dtype": "float31"}, {"device": "no"}),
]


def packed(value: object) -> tuple[object, dict[str, torch.Tensor]]:
    """Return the node and the tensors of a value."""
    packer = Packer()
    node = packer.pack(value)
    return json.loads(json.dumps(node)), load(save(packer.tensors))


def places(node: object) -> list[tuple[dict | list, object]]:
    """Return every place in a tree where something stands."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    return [(node, key) for key in keys] + [place for key in keys for place in places(node[key])]


def survives(node: object, loaded: dict[str, torch.Tensor]) -> None:
    """Unpack a tree: either a value comes out, or WireError."""
    try:
        Unpacker(loaded).unpack(node)
    except WireError:
        return


@pytest.mark.parametrize("junk", JUNK, ids=repr)
def test_junk_anywhere_in_a_tree(junk: object) -> None:
    """Whatever stands wherever in a tree, nothing but WireError comes of it."""
    node, loaded = packed(VALUE)
    for index in range(len(places(node))):
        mutant = copy.deepcopy(node)
        container, key = places(mutant)[index]
        container[key] = junk
        survives(mutant, loaded)
    for key in ("t", "at", "shape", "order", "expand", "p", "l", "d", "dtype", "device", "x"):
        mutant = copy.deepcopy(node)
        for container, _ in places(mutant):
            if isinstance(container, dict) and "t" in container:
                container[key] = junk
        survives(mutant, loaded)


@pytest.mark.parametrize("opening", ['{"p": [', '{"l": [', '{"d": [["k", '])
def test_values_that_are_too_deep(opening: str) -> None:
    """Nesting ends at a depth that no result has."""
    closing = "]" * opening.count("[") + "}"
    with pytest.raises(WireError):
        Unpacker({}).unpack(json.loads(nested(30, opening, closing, "1")))


@pytest.mark.parametrize(
    "node", [{}, {"y": 1}, {"dtype": "float128"}, {"dtype": 5}, {"device": "no"}, {"device": "x" * 999}, [1], {"t": 1}]
)  # fmt: skip
def test_unknown_nodes(node: object) -> None:
    """A node of no known kind, an unknown dtype and a device that cannot be are refused."""
    with pytest.raises(WireError):
        Unpacker({}).unpack(node)


def test_one_tensor_for_many() -> None:
    """Bytes that were sent once cannot become many tensors, nor one that is endless."""
    loaded = {"float32": torch.zeros(1000)}
    node = {"t": "float32", "at": 0, "shape": [1000]}
    with pytest.raises(WireError, match="larger than what was sent"):
        Unpacker(loaded).unpack({"l": [node | {"shape": [1] * n + [1000]} for n in range(3)]})
    with pytest.raises(WireError, match="larger than what was sent"):
        Unpacker(loaded).unpack(node | {"shape": [1], "expand": [10**12]})


def test_random_damage() -> None:
    """A few hundred messages with flipped, cut, doubled and inserted bytes: a value or WireError."""
    rng = random.Random(20170612)
    packer = Packer()
    message = frame({"kind": "value", "value": packer.pack(VALUE)}, save(packer.tensors))
    for _ in range(600):
        damaged = bytearray(message)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(damaged))
            kind = rng.randrange(4)
            if kind == 0:
                damaged[at] = rng.randrange(256)
            elif kind == 1:
                del damaged[at : at + rng.randint(1, 9)]
            elif kind == 2:
                damaged[at:at] = damaged[at : at + rng.randint(1, 30)]
            else:
                damaged[at:at] = rng.choice([b"0", b"9" * 20, b"[", b"}", b'"', b"null", b"-", b"e999"])
        try:
            length = frame_length(damaged)
            if length is None or length > len(damaged):
                continue
            header, payload = parse_frame(bytes(damaged[:length]))
            Unpacker(load(payload)).unpack(header.get("value"))
        except WireError:
            continue
