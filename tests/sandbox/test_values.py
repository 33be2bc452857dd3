"""What an answer returned, seen from outside: copies of real tensors, plain values, and a phrase for all else."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
import torch

from grader.sandbox.values import MOST_TEXT, Snapshot, TooLarge, describe, is_tensor
from grader.transport.wire import MAX_HEADER, MAX_PAYLOAD, Foreign, Unpacker, frame, load, save


class Fake(torch.Tensor):
    """Claims to be equal to everything."""

    def __eq__(self, other):
        return torch.ones((), dtype=torch.bool)

    __hash__ = None

    @property
    def shape(self):
        """Lie about the shape."""
        return (2, 3)


class Liar:
    """Claims to be a tensor."""

    @property
    def __class__(self):
        return torch.Tensor


class Article:
    """Needs another article when its name begins with a vowel."""


Odd = type("Odd", (), {})


class Pair(NamedTuple):
    """What a tidy answer returns."""

    output: torch.Tensor
    weights: torch.Tensor


def arrived(value):
    """Return a result as the judge sees it."""
    snapshot = Snapshot()
    tree = snapshot.tree(value)
    return Unpacker(load(save(snapshot.tensors))).unpack(tree)


def test_values_and_tensors() -> None:
    """Numbers, texts, tuples, lists, dicts and tensors arrive as they are."""
    x, weight = torch.randn(2, 3).t(), torch.nn.Parameter(torch.randn(4))
    got = arrived((x, [weight, None, True], {"a": 1.5, 2: "text"}))
    assert torch.equal(got[0], x)
    assert torch.equal(got[1][0], weight)
    assert got[1][1:] == [None, True]
    assert got[2] == {"a": 1.5, "2": "text"}
    assert math.isnan(arrived(math.nan))


def test_named_tuples_are_tuples() -> None:
    """An answer may return a named tuple."""
    got = arrived(Pair(torch.ones(1), torch.zeros(1)))
    assert type(got) is tuple
    assert [t.item() for t in got] == [1.0, 0.0]


def test_independent_copies() -> None:
    """What an answer does to its tensors afterwards does not show: two views of one memory are two results."""
    x = torch.zeros(2, 2)
    snapshot = Snapshot()
    tree = snapshot.tree((x, x[0], x.expand(3, 2, 2)))
    payload = save(snapshot.tensors)
    x += 1
    got = Unpacker(load(payload)).unpack(tree)
    assert [t.shape for t in got] == [(2, 2), (2,), (3, 2, 2)]
    assert all(t.eq(0).all() for t in got)


def test_where_it_lives_and_whether_it_carries_a_graph() -> None:
    """A node tells device and graph, which bytes do not."""
    snapshot = Snapshot()
    plain, graph = snapshot.tree([torch.ones(2), torch.ones(2, requires_grad=True) * 2])["l"]
    assert (plain["device"], plain["grad"], graph["grad"]) == ("cpu", False, True)


def test_lazy_conjugates_and_negatives() -> None:
    """Bits that torch keeps aside are resolved."""
    z = torch.tensor([1 + 2j], dtype=torch.complex64)
    assert arrived(z.conj()).item() == 1 - 2j
    assert arrived(z.conj().imag).item() == -2


@pytest.mark.parametrize(
    ("value", "phrase"),
    [
        (np.zeros(3), "a NumPy array"),
        (np.float64(1.5), "a NumPy float64"),
        ((x for x in "ab"), "a generator"),
        (print, "a function"),
        (lambda: None, "a function"),
        (torch.nn.Linear(1, 1), "a module (Linear)"),
        (torch.ones(2, 3).as_subclass(Fake), "a subclass of torch.Tensor (Fake)"),
        (Liar(), "a subclass of torch.Tensor (Liar)"),
        (Article(), "an Article"),
        (Odd(), "an Odd"),
        (range(3), "a range"),
        (1j, "a complex"),
        (torch.float32, "a dtype"),
        (type("N" * 500, (), {})(), "a " + "N" * 60),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else type(value).__name__[:20],
)
def test_phrases(value, phrase: str) -> None:
    """What is no plain value and no tensor of torch's own is a phrase, whatever it claims to be."""
    assert describe(value) == phrase
    got = arrived([value])[0]
    assert isinstance(got, Foreign)
    assert got.what == phrase


def test_only_real_tensors() -> None:
    """A subclass is none, a parameter is one."""
    assert is_tensor(torch.ones(1))
    assert is_tensor(torch.nn.Parameter(torch.ones(1)))
    assert not is_tensor(torch.ones(1).as_subclass(Fake))
    assert not is_tensor(Liar())


@pytest.mark.parametrize(
    ("value", "phrase"),
    [
        (torch.ones(2, 2).to_sparse(), "a tensor of sparse_coo layout"),
        (torch.ones(2, dtype=torch.complex128), "dtype complex128"),
        (torch.empty(2, 2, device="meta"), "meta device"),
    ],
)
def test_tensors_that_do_not_travel(value: torch.Tensor, phrase: str) -> None:
    """Sparse tensors, odd dtypes and tensors without values are phrases too."""
    assert phrase in arrived(value).what


def test_too_deep() -> None:
    """Nesting ends; a list that holds itself is no way to hang."""
    loop: list = []
    loop.append(loop)
    got = arrived(loop)
    while isinstance(got, list):
        (got,) = got
    assert got.what == "a list"


def test_too_large() -> None:
    """A result far beyond any expected one is refused before it is copied: an expanded scalar takes no memory here."""
    with pytest.raises(TooLarge, match=r"shape \(1000000000000,\)"):
        Snapshot().tree(torch.zeros(1).expand(10**12))
    with pytest.raises(TooLarge):
        Snapshot().tree([torch.zeros(1).expand(MAX_PAYLOAD // 8 + 1)] * 2)
    with pytest.raises(TooLarge):
        Snapshot().tree([torch.zeros(1)] * 1000)


def test_texts_arrive_whole() -> None:
    """All of a text is compared, so all of it travels; of a key there is as much as a person would read."""
    got = arrived(["x" * 10_000, {"k" * 10_000: 1}])
    assert got[0] == "x" * 10_000
    assert len(next(iter(got[1]))) == 80


def test_too_much_text() -> None:
    """More text than a reply holds is refused, whether it stands in one place or in many; the most of it fits."""
    assert len(frame({"value": Snapshot().tree("\U0001f600" * MOST_TEXT)})) < MAX_HEADER
    for text in ("x" * (MOST_TEXT + 1), ["x" * 1000] * (MOST_TEXT // 1000 + 1)):
        with pytest.raises(TooLarge, match="characters of text"):
            Snapshot().tree(text)
