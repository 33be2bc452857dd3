"""The inputs of a case: fresh for each seed, the same for each variant of a case."""

from __future__ import annotations

import pytest
import torch

from grader.judge.cases.rng import Numbers


def drawn(rng: Numbers) -> list[torch.Tensor]:
    """Draw one of each kind."""
    return [
        *(rng.normal(2, 3), rng.uniform(4, low=-1.0, high=1.0), rng.integers(0, 9, 5), rng.keep(3, 4)),
        *(rng.permutation(6), rng.weights_like(torch.ones(2, 2))),
    ]


def same(first: list[torch.Tensor], second: list[torch.Tensor]) -> bool:
    """Tell whether two draws are equal bit for bit."""
    return all(map(torch.equal, first, second))


def test_one_stream_for_each_seed_and_case() -> None:
    """The same seed and case give the same numbers in each variant, from the start; anything else gives others."""
    numbers = Numbers(5, "test_a(1)")
    first = drawn(numbers)
    assert same(first, drawn(Numbers(5, "test_a(1)")))
    assert same(first, drawn(numbers.again()))
    assert not same(first, drawn(numbers))
    assert not same(first[:1], drawn(Numbers(5, "test_a(2)"))[:1])
    assert not same(first[:1], drawn(Numbers(6, "test_a(1)"))[:1])


def test_the_answer_cannot_see_them() -> None:
    """They are drawn from a generator of their own: the global one neither matters nor moves."""
    torch.manual_seed(1)
    first = drawn(Numbers(5, "a"))
    moved = torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(torch.rand(1), moved)
    assert same(first, drawn(Numbers(5, "a")))


def test_kinds() -> None:
    """Floats are float64, integers int64, masks bool; shapes and ranges are those asked for."""
    rng = Numbers(0, "kinds")
    uniform, integers = rng.uniform(1000, low=2.0, high=3.0), rng.integers(-2, 3, 1000)
    assert (uniform.dtype, integers.dtype, rng.keep(2, 3).dtype) == (torch.float64, torch.int64, torch.bool)
    assert 2.0 <= uniform.min() < uniform.max() < 3.0
    assert set(integers.tolist()) == {-2, -1, 0, 1, 2}
    assert sorted(rng.permutation(7).tolist()) == list(range(7))
    scaled = rng.normal(2000, scale=3.0)
    assert scaled.dtype == torch.float64
    assert 2.7 < scaled.std() < 3.3
    assert rng.normal().shape == ()


@pytest.mark.parametrize("shape", [(5,), (1,), (2,), (40, 3), (7, 1), (3, 4, 2, 6)])
@pytest.mark.parametrize("p", [0.0, 0.6, 1.0])
def test_masks(shape: tuple[int, ...], p: float) -> None:
    """Each row keeps at least one key and, where it is longer than 1, hides at least one."""
    keep = Numbers(3, "masks").keep(*shape, p=p)
    assert keep.shape == shape
    assert bool(keep.any(-1).all())
    assert shape[-1] == 1 or bool((~keep).any(-1).all())


def test_weights() -> None:
    """No parameter keeps an initial value that a wrong answer could share; matrices keep their scale."""
    rng = Numbers(4, "weights")
    ones, zeros = rng.weights_like(torch.ones(64)), rng.weights_like(torch.zeros(64))
    assert bool((ones != 1).all())
    assert bool((zeros != 0).all())
    assert 0.5 < ones.mean() < 1.5
    matrix = rng.weights_like(torch.zeros(100, 64))
    assert matrix.dtype == torch.float64
    assert 0.8 < matrix.std() * 8 < 1.2
    assert rng.weights_like(torch.zeros(())).shape == ()
