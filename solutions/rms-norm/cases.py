"""Hidden cases of rms-norm."""

import pytest
import torch


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    x = torch.tensor([[1.0, 7.0, 5.0, 5.0], [2.0, 2.0, 2.0, 2.0], [0.0, 0.0, 0.0, 0.0]])
    check(x, torch.tensor([1.0, 1.0, 2.0, 3.0]))


def test_two_tokens(check, rng):
    """The smallest call: each row has a size of its own."""
    check(rng.normal(2, 4), rng.normal(4))


def test_a_batch_of_sequences(check, rng):
    """(B, S, d): every token is normalised by itself."""
    check(rng.normal(2, 3, 6), rng.normal(6))


@pytest.mark.parametrize("shape", [(5,), (1, 7), (2, 3, 4, 6)])
def test_any_leading_axes(check, rng, shape):
    """One token alone, a single row, heads in between: the last axis is what counts."""
    check(rng.normal(*shape), rng.normal(shape[-1]))


def test_axes_of_one_size(check, rng):
    """B == S == d, where a wrong axis does not show in the shape."""
    check(rng.normal(4, 4, 4), rng.normal(4))


def test_three_features(check, rng):
    """With few features the divisor of the mean matters most."""
    check(rng.normal(3, 5, 3), rng.normal(3))


def test_one_feature(check, rng):
    """A single feature: its sign is left, and the weight."""
    check(rng.normal(2, 3, 1), rng.normal(1))


def test_mean_far_from_zero(check, rng):
    """All features of a token have something in common: it is part of the token's size and stays in the result."""
    check(4.0 + rng.normal(2, 3, 6), rng.normal(6))
    check(rng.normal(2, 3, 1) + 0.1 * rng.normal(2, 3, 8), rng.normal(8))


def test_tokens_of_different_size(check, rng):
    """A loud token and a quiet one come out alike."""
    sizes = torch.tensor([0.2, 1.0, 5.0, 25.0], dtype=torch.float64).view(4, 1)
    check(sizes * rng.normal(2, 4, 8), rng.normal(8))


def test_one_loud_feature(check, rng):
    """One feature outweighs all others: means of sizes and of squares differ most."""
    x = rng.normal(2, 3, 8)
    x[..., 5] = 30.0
    check(x, rng.normal(8))
    wide = rng.normal(2, 400)
    wide[0, 7] = 1e3
    check(wide, rng.normal(400))


def test_tiny_values(check, rng):
    """A mean square around the size of eps, where eps and its place show."""
    check(rng.normal(3, 4, 8, scale=1e-3), rng.normal(8))


def test_zeros(check, rng):
    """A token of nothing but zeros stays zero, without a NaN in result or gradient."""
    x = rng.normal(2, 3, 8)
    x[0, 1] = 0.0
    x[1] = 0.0
    check(x, rng.normal(8))


def test_large_values(check, rng):
    """Values in the thousands: their squares do not fit into float16, nor those of float64 into float32."""
    scale = 1e25 if check.dtype == torch.float64 else 2e3
    check(rng.normal(3, 4, 8, scale=scale), rng.normal(8))


def test_many_features(check, rng):
    """A long token of large values: the sum of its squares is far larger than their mean."""
    check(rng.normal(2, 3, 96, scale=50.0), rng.normal(96))


@pytest.mark.parametrize(("eps", "scale"), [(0.5, 0.05), (1e-3, 0.05), (4.0, 1.0), (1e-8, 1e-4)])
def test_eps_is_an_argument(check, rng, eps, scale):
    """By name and as the third argument; it may be large or small, as x may."""
    x, weight = rng.normal(2, 3, 6, scale=scale), rng.normal(6)
    check(x, weight, eps=eps)
    check(x, weight, eps)


def test_weights_of_any_sign_and_size(check, rng):
    """The weight is used as it is, feature by feature, after the division."""
    check(rng.normal(2, 3, 6), torch.tensor([-3.0, 0.0, 0.1, 1.0, 7.0, -0.5], dtype=torch.float64))
    check(rng.normal(2, 3, 6), torch.zeros(6, dtype=torch.float64))


def test_transposed_input(check, rng):
    """A view whose features do not lie side by side."""
    check(rng.normal(2, 6, 5).transpose(1, 2), rng.normal(6))
    check(rng.normal(4, 3, 10)[:, :, ::2], rng.normal(5))


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    for shape in ((9, 1, 1, 5), (1, 1, 3, 5), (9, 1, 5), (1, 300, 5), (3, 3, 3, 3), (2, 300), (2, 5)):
        x = rng.normal(*shape)
        check(x, rng.normal(shape[-1]), 0.0)
        check(x, rng.normal(shape[-1]), 1.0)
    row = rng.normal(5)
    check(row, row)
    check(rng.normal(2, 1100), rng.normal(1100))


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    x = rng.normal(6, scale=scale)
    check(x, x)
