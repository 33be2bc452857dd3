"""A model for one step of decoding: the same numbers everywhere, and a clear refusal of what it cannot take."""

from __future__ import annotations

import pytest
import torch

from grader.judge.exchange.arguments import cast
from grader.sandbox import observe
from grader.transport.callables import Step, steps_in
from grader.transport.wire import Packer, Unpacker, WireError, frame, load, parse_frame, save


def table(positions: int = 3, vocab: int = 5) -> torch.Tensor:
    """Draw a table; it is the same each time."""
    return torch.randn(positions, vocab, vocab, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def sent(value, **own):
    """Return a value as it arrives at the other end."""
    packer = Packer()
    header, payload = parse_frame(frame({"value": packer.pack(value)}, save(packer.tensors)))
    return Unpacker(load(payload), **own).unpack(header["value"])


def test_logits_depend_on_all_tokens_and_their_order() -> None:
    """They are a sum over the positions of the prefix."""
    step, numbers = Step(table()), table()
    torch.testing.assert_close(step(torch.tensor([[4, 2, 0]]))[0], numbers[0, 4] + numbers[1, 2] + numbers[2, 0])
    assert not torch.equal(step(torch.tensor([[4, 2]])), step(torch.tensor([[2, 4]])))
    assert step.asked == [[1, 3], [1, 2], [1, 2]]


def test_a_row_does_not_depend_on_its_batch() -> None:
    """Bit for bit: else ties would be decided by chance."""
    step = Step(table())
    prefixes = torch.randint(0, 5, (9, 3))
    alone = torch.cat([step(row[None]) for row in prefixes])
    assert torch.equal(alone, step(prefixes))


def test_it_travels() -> None:
    """The sandbox gets the same table, and logits are rounded to the dtype of the variant."""
    step = cast((Step(table()),), torch.float16)[0]
    there = sent({"step": step}, returned=lambda *_: None)["step"]
    prefix = torch.tensor([[1, 3]])
    assert there(prefix).dtype == torch.float16
    assert torch.equal(there(prefix), step(prefix))
    reference = cast((Step(table()),), torch.float16, torch.float64, copy=True)[0]
    assert torch.equal(reference(prefix), there(prefix).double())


def test_it_does_not_come_back() -> None:
    """A reply from the sandbox holds no models."""
    with pytest.raises(WireError):
        sent(Step(table()))


@pytest.mark.parametrize(
    ("tokens", "sentence"),
    [
        ([[1, 2]], "int64 tensor of shape"),
        (torch.tensor([1, 2]), "int64 of shape"),
        (torch.tensor([[1, 2]], dtype=torch.int32), "int32 of shape"),
        (torch.tensor([[1.0]]), "float32 of shape"),
        (torch.empty(2, 0, dtype=torch.int64), "t at least 1"),
        (torch.zeros(1, 4, dtype=torch.int64), "at most 3"),
        (torch.tensor([[1, 5]]), "the token 5, the vocabulary has 5"),
        (torch.tensor([[-1]]), "the token -1"),
    ],
)
def test_what_it_refuses(tokens, sentence: str) -> None:
    """A prefix of another type, dtype or shape, one that is too long, ids that are none."""
    with pytest.raises(ValueError, match=sentence):
        Step(table())(tokens)


def test_on_another_device() -> None:
    """Logits lie where the variant computes, each call's own; tokens may come from anywhere."""
    device = "meta"
    step = observe.place({"step": Step(table())}, device)["step"]
    assert step(torch.tensor([[1]])).device.type == device
    moved = []
    step = Step(table()).placed(lambda logits: moved.append(logits) or logits, lambda ids: ids)
    first, second = step(torch.tensor([[1]])), step(torch.tensor([[2]]))
    assert not torch.equal(first, second)
    assert list(steps_in(((step,), {"a": [step]}))) == [step, step]
