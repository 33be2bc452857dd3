"""Hidden cases of layer-norm-backward."""

import pytest
import torch

from grader.kit.defaults import of_everything
from grader.kit.digits import keeps_digits


def tensors(rng, *shape, scale=1.0):
    """Draw tokens, a weight that is far from one, and a gradient of the output."""
    return rng.normal(*shape, scale=scale), rng.normal(shape[-1]), rng.normal(*shape)


def spread(rng, *shape):
    """Draw tokens whose features have variance 1: three numbers may be nearly equal by chance."""
    x = rng.normal(*shape)
    return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    x = torch.tensor([[1.0, 3.0, 1.0, 3.0], [0.0, 4.0, 4.0, 0.0]])
    d_output = torch.tensor([[4.0, 0.0, 0.0, 0.0], [0.0, 6.0, 2.0, 2.0]])
    check(x, torch.tensor([1.0, 1.0, 2.0, 1.0]), d_output, eps=0.0)


def test_two_tokens(check, rng):
    """The smallest call: each row has statistics of its own, the sums go over both."""
    _, weight, d_output = tensors(rng, 2, 5)
    check(spread(rng, 2, 5), weight, d_output)


def test_a_batch_of_sequences(check, rng):
    """(B, S, d): the gradients of weight and bias are sums over batch and tokens."""
    check(*tensors(rng, 2, 3, 6))


@pytest.mark.parametrize("shape", [(7,), (1, 7), (3, 1, 6), (2, 3, 4, 6)])
def test_any_leading_axes(check, rng, shape):
    """One token alone, a single row, heads in between: all axes but the last are summed over."""
    _, weight, d_output = tensors(rng, *shape)
    check(spread(rng, *shape), weight, d_output)


def test_axes_of_one_size(check, rng):
    """B == S == d, where a wrong axis does not show in the shape."""
    _, weight, d_output = tensors(rng, 4, 4, 4)
    check(spread(rng, 4, 4, 4), weight, d_output)


def test_three_features(check, rng):
    """With few features the divisor of the variance matters most."""
    _, weight, d_output = tensors(rng, 3, 5, 3)
    check(rng.uniform(3, 5, 1, low=0.5, high=3.0) * spread(rng, 3, 5, 3), weight, d_output)


def test_one_feature(check, rng):
    """A single feature does not vary: only the bias has a gradient."""
    x, weight, d_output = tensors(rng, 2, 3, 1)
    check(x, weight, d_output.abs())  # whose sum loses no digits: it is the only number to compare with


def test_tokens_of_different_size(check, rng):
    """A loud token gets a small gradient, a quiet one a large one."""
    sizes = torch.tensor([0.2, 1.0, 5.0, 25.0], dtype=torch.float64).view(4, 1)
    _, weight, d_output = tensors(rng, 4, 8)
    check(sizes * spread(rng, 4, 8) + sizes, weight, sizes * d_output)


def test_weight_of_ones(check, rng):
    """The weight of a new layer: what the statistics do shows alone."""
    x, weight, d_output = tensors(rng, 2, 3, 8)
    check(x, torch.ones_like(weight), d_output)


def test_gradient_of_a_sum(check, rng):
    """All entries of the gradient are one number in memory, as behind y.sum(), or all rows are one row."""
    x, weight, d_output = tensors(rng, 3, 4, 6)
    check(x, weight, torch.ones((), dtype=torch.float64).expand(3, 4, 6))
    check(x[0], weight, d_output[0, 0].expand(4, 6))


def test_gradient_with_a_common_level(check, rng):
    """Most of the gradient is the same for all features: the way through the mean takes it away."""
    x, weight, d_output = tensors(rng, 2, 3, 8)
    check(x, 1.0 + 0.25 * weight, 4.0 + d_output)


def test_gradient_along_the_token(check, rng):
    """Most of the gradient would make the token larger: the way through the variance takes it away."""
    x, weight, d_output = tensors(rng, 2, 3, 8)
    check(x, 1.0 + 0.25 * weight, 4.0 * x + d_output)


def test_tiny_values(check, rng):
    """A variance around the size of eps, where eps and its place show."""
    check(*tensors(rng, 3, 4, 8, scale=3e-3))


def test_constant_tokens(check, rng):
    """No variance at all: no NaN, in no result and no gradient."""
    _, weight, d_output = tensors(rng, 2, 3, 8)
    x = rng.integers(-4, 5, 2, 3, 1).double().expand(2, 3, 8).clone()
    x[1, 2] = 0.0
    check(x, weight, d_output)


def test_weights_of_zero(check, rng):
    """Features that the weight silences: nothing goes on to x through them, but their weight has a gradient."""
    x, weight, d_output = tensors(rng, 2, 3, 6)
    weight[::2] = 0.0
    check(x, weight, d_output)
    check(x, torch.zeros_like(weight), d_output)


@pytest.mark.precise
@pytest.mark.derive
def test_numbers_that_stand_out(check, rng):
    """One feature of four hundred far off, tokens that do not vary with gradients of ten thousand: nothing is cut."""
    x, weight, d_output = tensors(rng, 2, 400)
    x[0, 7] = 1e3
    check(x, weight, d_output)
    _, weight, d_output = tensors(rng, 2, 3, 8)
    check(torch.full((2, 3, 8), 2.0, dtype=torch.float64), weight, 1e4 * d_output)


@pytest.mark.derive
def test_constant_tokens_of_any_value(check, rng):
    """Numbers whose squares have more digits than float32: rounding must not make a NaN of a token without variance."""
    x = (rng.integers(-64000, 64001, 4, 24, 1).double() / 64).expand(4, 24, 7).clone()
    _, weight, d_output = tensors(rng, 4, 24, 7)
    dx, d_weight, d_bias = check.run(x, weight, d_output)
    finite = all(result.got.isfinite().all() for result in (dx, d_weight, d_bias))
    check.that(finite, "a token whose features are all equal makes a NaN or an infinity")


def test_large_values(check, rng):
    """Values in the thousands: their squares do not fit into float16, nor those of float64 into float32."""
    scale = 1e25 if check.dtype == torch.float64 else 2e3
    _, weight, d_output = tensors(rng, 3, 4, 8)
    check(scale * spread(rng, 3, 4, 8), weight, 0.25 * scale * d_output)
    check(scale * spread(rng, 3, 4, 8), 256.0 * weight, 0.25 * scale * d_output)  # a product beyond float16


def test_values_far_from_zero(check, rng):
    """A mean much larger than the deviations: it takes all the digits that the input has."""
    offset = {torch.float64: 2048.0, torch.float32: 2.0}.get(check.dtype, 64.0)
    _, weight, d_output = tensors(rng, 6, 4, 16)
    check(offset + 1.5 * rng.normal(6, 4, 16), weight, d_output)


def test_hundreds_of_tokens(check, rng):
    """The sums grow to hundreds, and to thousands: whoever adds halves to halves one by one stands still at 256."""
    for length in (100, 700):
        x, weight, d_output = tensors(rng, 6, length, 5)
        check(x, weight, 1.0 + 0.5 * d_output)


@pytest.mark.derive("dtype", "device")
def test_mean_thousands_of_deviations_away(check, rng):
    """A mean far above the deviations: the mean of the squares less the square of the mean has lost their digits."""
    _, weight, d_output = (one.to(check.dtype).double() for one in tensors(rng, 6, 64))
    steps = rng.integers(-1, 2, 6, 32).double()
    spacing = 8.0 if check.dtype == torch.bfloat16 else 1.0  # of the numbers around 2000
    x = 2000.0 + spacing * torch.cat([steps, -steps], dim=1)  # no rounding moves their mean
    _, d_weight, _ = check.run(x, weight, d_output)
    wanted = (d_output * torch.nn.functional.layer_norm(x, (64,), eps=1e-5)).sum(0)
    check.that(d_weight.got.shape == wanted.shape, "the gradient of the weight has another shape than the weight")
    few_digits = 0.05 if check.dtype == torch.bfloat16 else 0.01
    near = (d_weight.got - wanted).abs() <= few_digits * (1.0 + wanted.abs())
    check.that(near.all(), "the deviations have lost their digits")


@pytest.mark.parametrize("eps", [0.5, 1e-3])
def test_eps_is_an_argument(check, rng, eps):
    """By name and as the fourth argument."""
    x, weight, d_output = tensors(rng, 2, 3, 6, scale=0.05)
    check(x, weight, d_output, eps=eps)
    check(x, weight, d_output, eps)


def test_by_keyword(check, rng):
    """The names of the arguments are part of the contract."""
    x, weight, d_output = tensors(rng, 2, 3, 6)
    check(d_output=d_output, weight=weight, x=x)


def test_transposed_inputs(check, rng):
    """Views whose features do not lie side by side."""
    check(rng.normal(2, 6, 5).transpose(1, 2), rng.normal(12)[::2], rng.normal(5, 2, 6).transpose(0, 1))
    check(rng.normal(4, 3, 10)[:, :, ::2], rng.normal(5), rng.normal(3, 4, 5).transpose(0, 1))


@pytest.mark.precise
@pytest.mark.derive("grad", "device", "contract")
def test_digits_of_double_precision(check, rng):
    """In float64 all digits count, with a mean of a thousand as well."""
    x, weight, d_output = tensors(rng, 2, 3, 6)
    for result in (check(x, weight, d_output), check(64.0 + x, weight, d_output, 1e-12)):
        check.that(keeps_digits(result), "numbers of float64 came back with the digits of a shorter type")


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    for shape in ((9, 1, 1, 5), (1, 1, 3, 5), (9, 1, 5), (1, 300, 5), (3, 3, 3, 3), (2, 1100), (2, 5)):
        x, weight, d_output = tensors(rng, *shape)
        check(x, weight, d_output, 0.0)
        check(x, weight, d_output, 1.0)
        check(3e4 * x, weight, 3e4 * d_output)
    check(*tensors(rng, 5000, 3))
    check(*tensors(rng, 2, 1, 3, 2, 4))
    row, other = rng.normal(5), rng.normal(5)
    for arguments in ((row, row, other), (row, other, row), (other, row, row)):
        check(*arguments)


@pytest.mark.derive("grad", "device")
def test_a_gradient_of_zero(check, rng):
    """What arrives is 0, and so is what goes on; how it would change with what arrives is not."""
    x, weight, d_output = tensors(rng, 2, 3, 5)
    with of_everything(check):
        check(x, weight, 0.0 * d_output)


@pytest.mark.grad
def test_each_result_once_more(check, rng):
    """Each of the three results can be differentiated once more: nobody asks the other two, or no feature varies."""
    for shape in ((5,), (3, 5), (2, 3, 5), (2, 1, 3, 5)):
        results = check(*tensors(rng, *shape))
        whole = all(result.carries_gradient for result in results) or not check.variant.grad
        check.that(whole, "one of the three results has no graph: it cannot be differentiated once more")
    _, weight, d_output = tensors(rng, 2, 3, 8)
    check(rng.integers(-4, 5, 2, 3, 1).double().expand(2, 3, 8).clone(), weight, d_output)


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    x = scale * spread(rng, 6)
    check(x, x, x)


def test_sums_that_cancel(check, rng):
    """Two tokens that are nearly alike, with opposite gradients: what is left of their sum is what tells them apart."""
    x, weight, d_output = tensors(rng, 2, 32)
    x[1] = x[0]
    x[1, 0] += 1 / 64 if check.dtype.itemsize == 2 else 1.0
    d_output[0] = 1024.0
    d_output[1] = -d_output[0]
    check(x, weight, d_output)


def test_large_sums_that_cancel(check, rng):
    """Hundreds of tokens with gradients of a thousand, and then as many of minus a thousand: half has no such sums."""
    x, weight, d_output = tensors(rng, 400, 5)
    d_output[:200], d_output[200:] = 1024.0, -1024.0
    check(x, weight, d_output)
