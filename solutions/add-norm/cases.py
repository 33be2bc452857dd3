"""Hidden cases of add-norm."""

import pytest
import torch

from grader.kit import dropout_gradients
from grader.kit.inference import drops_in_inference_mode

# A norm magnifies rounding where its input varies little, so the `dtype` variants are those of wide tokens.
without_dtype = pytest.mark.derive("grad", "device", "contract")


def plain(add_norm, width):
    """Give the norm weights of 1 and no bias."""
    return add_norm.set(ln__weight=torch.ones(width), ln__bias=torch.zeros(width))


def in_training(check, add_norm, x, y):
    """Return what a call in training gives; zeros where that is no tensor of the right shape."""
    got = add_norm.train().run(x, y).got
    fits = isinstance(got, torch.Tensor) and got.shape == x.shape
    check.that(fits, "in training the result is not a tensor of the inputs' shape")
    return got.double() if fits else torch.zeros_like(x)


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]])
    add_norm = check.module(4).set(ln__weight=torch.ones(4), ln__bias=torch.tensor([0.0, 0.0, 0.0, 5.0]))
    add_norm(x, torch.tensor([[2.0, -1.0, 0.0, -3.0], [-1.0, -2.0, -3.0, -4.0]]))


@without_dtype
def test_two_tokens(check, rng):
    """The smallest call: a sum, then a norm."""
    add_norm = check.module(4)
    add_norm(rng.normal(1, 2, 4), rng.normal(1, 2, 4))


def test_a_batch_of_sequences(check, rng):
    """(B, S, d), with a norm of its own weight and bias."""
    add_norm = check.module(normalized_shape=32)
    add_norm(rng.normal(2, 3, 32), rng.normal(2, 3, 32))


@without_dtype
def test_axes_of_one_size(check, rng):
    """B == S == d, where a wrong axis does not show in the shape."""
    add_norm = check.module(4)
    add_norm(rng.normal(4, 4, 4), rng.normal(4, 4, 4))


@pytest.mark.parametrize("shape", [(24,), (3, 24), (2, 3, 4, 24)])
def test_any_leading_axes(check, rng, shape):
    """One token, a matrix, heads in between: the norm runs over the last axis."""
    add_norm = check.module(24)
    add_norm(rng.normal(*shape), rng.normal(*shape))


def test_the_sublayer_is_quiet(check, rng):
    """A small y is a small change of x."""
    add_norm = check.module(32)
    add_norm(rng.normal(2, 3, 32), rng.normal(2, 3, 32, scale=0.1))


def test_the_sublayer_is_loud(check, rng):
    """A large y, and an x that is still heard."""
    add_norm = check.module(32)
    add_norm(rng.normal(2, 3, 32), rng.normal(2, 3, 32, scale=4.0))


@without_dtype
def test_tiny_values(check, rng):
    """A variance around the size of the norm's eps, which is PyTorch's default."""
    add_norm = check.module(32)
    add_norm(rng.normal(2, 3, 32, scale=3e-3), rng.normal(2, 3, 32, scale=3e-3))


def test_sublayer_that_undoes_the_token(check, rng):
    """The sum is zero: what is left is the bias of the norm."""
    add_norm = check.module(16)
    x = rng.normal(2, 3, 16)
    add_norm(x, -x)


def test_the_same_tensor_twice(check, rng):
    """A sublayer that returns its input."""
    add_norm = check.module(32)
    x = rng.normal(2, 3, 32)
    add_norm(x, x)


def test_transposed_inputs(check, rng):
    """Views whose features do not lie side by side."""
    add_norm = check.module(24)
    add_norm(rng.normal(2, 24, 5).transpose(1, 2), rng.normal(5, 2, 24).transpose(0, 1))


@pytest.mark.derive("dtype")
def test_large_values(check, rng):
    """Tokens of a thousand: their squares are beyond float16, what a norm makes of them is not."""
    add_norm = check.module(32)
    add_norm(rng.normal(2, 3, 32, scale=1e3), rng.normal(2, 3, 32, scale=1e3))


@pytest.mark.derive("dtype")
def test_digits_of_double_precision(check, rng):
    """In float64 the tokens lie around 2000 and differ by about one: the digits must not get lost on the way."""
    add_norm = check.module(32)
    offset = 2048.0 if check.dtype == torch.float64 else 1.0
    add_norm(offset + rng.normal(2, 3, 32), rng.normal(2, 3, 32))


@pytest.mark.derive("dtype", "device")
def test_mean_thousands_of_deviations_away(check, rng):
    """A mean far above the deviations: the mean of the squares less the square of the mean has lost their digits."""
    weight, bias = rng.normal(64), rng.normal(64)
    add_norm = check.module(64).set(ln__weight=weight, ln__bias=bias)
    steps = rng.integers(-1, 2, 6, 32).double()
    deviations = torch.cat([steps, -steps], dim=1)  # whole numbers, so that their mean is 0 without any rounding
    spacing = 8.0 if check.dtype == torch.bfloat16 else 1.0  # of the numbers around 2000
    y = spacing * torch.cat([deviations[:, 32:], deviations[:, :32]], dim=1).roll(1, 0)
    got = add_norm.run(2000.0 + spacing * deviations - y, y).got
    fits = isinstance(got, torch.Tensor) and got.shape == deviations.shape
    check.that(fits, "the result has another shape than x")
    variance = deviations.square().mean(-1, keepdim=True)
    wanted = deviations / (variance + 1e-5 / spacing**2).sqrt() * weight + bias
    few_digits = 0.05 if check.dtype == torch.bfloat16 else 0.01
    near = (got - wanted).abs() <= few_digits * (1.0 + wanted.abs())
    check.that(near.all(), "the deviations have lost their digits")


def test_no_dropout_in_evaluation(check, rng):
    """In evaluation mode a rate of one half, the second setting, changes nothing."""
    add_norm = check.module(32, 0.5)
    add_norm(rng.normal(2, 3, 32), rng.normal(2, 3, 32))


@pytest.mark.derive("grad", "device")
def test_training_without_dropout(check, rng):
    """In training a rate of 0, the default, changes nothing; no call leaves a trace for the next."""
    add_norm = check.module(6)
    x, y = rng.normal(2, 3, 6), rng.normal(2, 3, 6)
    before = add_norm.train()(x, y)
    add_norm(3.0 + rng.normal(4, 2, 6), rng.normal(4, 2, 6))
    check.same(before, add_norm.eval()(x, y), "the same call gave another result in evaluation mode")


@pytest.mark.derive("grad", "device", "contract")
def test_what_dropout_drops(check):
    """Entries of y are dropped one by one before the sum, and what is kept is rescaled; x arrives whole."""
    batch, length, width, rate = 54, 6, 16, 0.25
    add_norm = plain(check.module(width, dropout=rate), width)
    x = torch.zeros(batch, length, width, dtype=torch.float64)
    x[..., 0], x[..., 1] = 10.0, -10.0
    y = torch.ones(batch, length, width, dtype=torch.float64)
    y[..., :2] = 0.0
    got = in_training(check, add_norm, x, y)
    # The first two features stand at 10 and -10 before the norm, so that it can be undone.
    scale = (got[..., :1] - got[..., 1:2]) / 20.0
    sums = (got[..., 2:] - got[..., :1]) / scale + 10.0
    check.that(bool(((sums - 1.0).abs() > 0.02).any()), "in training nothing was dropped before the norm")
    dropped, kept = sums.abs() < 0.02, (sums * (1 - rate) - 1.0).abs() < 0.02
    check.that(bool((dropped | kept).all()), "an entry of y is neither dropped nor divided by 1 - dropout")
    share = dropped.double().mean().item()
    check.that(abs(share - rate) < 0.08, f"a share of {share:.2f} was dropped at a rate of {rate}")
    mixed = (dropped.any(-1) & kept.any(-1)).double().mean()
    check.that(bool(mixed > 0.7), "whole tokens are dropped instead of single entries")
    check.that(bool((dropped != dropped[:1]).any()), "all batch rows lose the same entries")
    check.that(bool((dropped != dropped[:, :1]).any()), "all tokens lose the same entries")


@pytest.mark.grad
def test_gradients_follow_what_was_dropped(check, rng):
    """An entry of y that was dropped gets no gradient, and one that was kept a larger one."""
    add_norm, y = check.module(6, dropout=0.5).train(), rng.normal(4, 5, 6, scale=1e4)
    dropout_gradients.does_not_grow_with(check, add_norm.run(torch.zeros_like(y), y), {"y": y})  # behind the norm


@pytest.mark.derive
def test_each_call_drops_anew(check, rng):
    """Two calls in training drop different entries."""
    add_norm = check.module(16, dropout=0.5)
    x, y = rng.normal(2, 3, 16), rng.normal(2, 3, 16)
    first = in_training(check, add_norm, x, y)
    check.roll()
    second = in_training(check, add_norm, x, y)
    check.that(not torch.equal(first, second), "two calls in training drop the same entries")


@pytest.mark.derive
@pytest.mark.parametrize("shape", [(40,), (6, 40), (2, 3, 4, 40)])
def test_dropout_with_any_axes(check, shape):
    """Whatever the leading axes, each entry of y is dropped by itself."""
    add_norm = plain(check.module(40, dropout=0.5), 40)
    x = torch.linspace(0.0, 0.2, 40, dtype=torch.float64).expand(shape)
    got = in_training(check, add_norm, x, torch.ones(shape, dtype=torch.float64)).reshape(-1, 40)
    distinct = [len(row.unique()) for row in got]
    check.that(min(distinct) == 40, "entries of x did not arrive whole")
    high = got > got.mean(-1, keepdim=True)
    check.that(bool((high.any(-1) & ~high.all(-1)).all()), "in training nothing was dropped before the norm")
    alike = [bool((high[row] == high[other]).all()) for row in range(len(high)) for other in range(row)]
    check.that(not any(alike), "two tokens lose the same entries")


@pytest.mark.derive
def test_dropout_of_the_same_object(check, rng):
    """Where x and y are one tensor, what is dropped of y is still there of x."""
    add_norm = plain(check.module(40, dropout=0.5), 40)
    x = 1.0 + 0.01 * rng.permutation(40).double()
    got = in_training(check, add_norm, x, x).unique()
    check.that(len(got) == 40, "entries of x did not arrive whole")
    kept = got[1:] - got[:-1]  # what is dropped is about 1, what is kept 3
    check.that(bool(kept.max() > 0.5 * (got[-1] - got[0])), "in training nothing was dropped before the norm")


@pytest.mark.derive
def test_everything_dropped(check, rng):
    """With a rate of 1 nothing is left of y in training: x is normalised alone. In evaluation all is."""
    add_norm = check.module(6, dropout=1.0)
    add_norm.train()(rng.normal(2, 3, 6), rng.normal(2, 3, 6))
    add_norm.eval()(rng.normal(2, 3, 6), rng.normal(2, 3, 6))


@pytest.mark.derive
def test_dropout_in_inference_mode(check, rng):
    """What nobody differentiates drops as well, as long as the module is in training."""
    add_norm = check.module(32, dropout=0.5)
    check.that(
        drops_in_inference_mode(check, add_norm, rng.normal(2, 3, 32), rng.normal(2, 3, 32)),
        "two calls in training are alike in inference mode: nothing was dropped",
    )


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    for shape in ((9, 1, 1, 5), (1, 2, 3, 5), (1, 300, 5), (3, 3, 3, 3), (9, 2, 70), (2, 3, 1)):
        check.module(shape[-1])(rng.normal(*shape), rng.normal(*shape))
    wide = rng.normal(2, 400)
    wide[0, 7] = 1e3  # twenty deviations
    check.module(400)(wide, rng.normal(2, 400))
    add_norm = check.module(6)
    x, y = rng.normal(2, 3, 6), rng.normal(2, 3, 6)
    add_norm(3e4 * x, 3e4 * y)
    add_norm.train()(x, y)
    add_norm.eval()(x, y)


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    x = rng.normal(2, 3, 24, scale=scale)
    check.module(24)(x, x)
