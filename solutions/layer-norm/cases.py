"""Hidden cases of layer-norm."""

import pytest
import torch

from grader.kit.defaults import around_another_dtype, of_inputs


def affine(rng, width):
    """Draw a weight and a bias, both of them far from what they start with."""
    return rng.normal(width), rng.normal(width)


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    weight, bias = torch.tensor([1.0, 1.0, 2.0, 1.0]), torch.tensor([0.0, 0.0, 0.0, 4.0])
    check["layer_norm"](torch.tensor([[1.0, 3.0, 1.0, 3.0], [0.0, 0.0, 0.0, 8.0]]), weight, bias)


def test_two_tokens(check, rng):
    """The smallest call: each row is normalised by itself."""
    check["layer_norm"](rng.normal(2, 4), *affine(rng, 4))


def test_a_batch_of_sequences(check, rng):
    """(B, S, d): every token has a mean and a variance of its own."""
    check["layer_norm"](rng.normal(2, 3, 6), *affine(rng, 6))


@pytest.mark.parametrize("shape", [(5,), (1, 7), (2, 3, 4, 6), (2, 1, 3, 1, 2, 5)])
def test_any_leading_axes(check, rng, shape):
    """One token alone, a single row, heads in between, six axes: the last axis is what counts."""
    check["layer_norm"](rng.normal(*shape), *affine(rng, shape[-1]))


def test_axes_of_one_size(check, rng):
    """B == S == d, where a wrong axis does not show in the shape."""
    check["layer_norm"](rng.normal(4, 4, 4), *affine(rng, 4))


def test_three_features(check, rng):
    """With few features the divisor of the variance matters most."""
    x = rng.normal(3, 5, 3)
    x = (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)  # three numbers may be nearly equal by chance
    check["layer_norm"](rng.uniform(3, 5, 1, low=0.5, high=3.0) * x + rng.normal(3, 5, 1), *affine(rng, 3))


def test_one_feature(check, rng):
    """A single feature does not vary: what is left is the bias."""
    check["layer_norm"](rng.normal(2, 3, 1), *affine(rng, 1))


@pytest.mark.grad
def test_one_feature_and_backward(check, rng):
    """A single feature of a layer that is frozen: its gradient is 0, and `backward()` works as ever."""
    norm = check["LayerNorm"](1)
    with of_inputs(check):
        learns = norm(rng.normal(2, 3, 1)).carries_gradient or not check.variant.grad
    check.that(learns, "the result of a single feature has no graph: backward() raises")


def test_tokens_of_different_size(check, rng):
    """A loud token and a quiet one come out alike."""
    sizes = torch.tensor([0.2, 1.0, 5.0, 25.0], dtype=torch.float64).view(4, 1)
    check["layer_norm"](sizes * rng.normal(2, 4, 8) + sizes, *affine(rng, 8))


def test_a_feature_that_stands_out(check, rng):
    """One feature of four hundred far from all others: it comes out at twenty deviations, and nothing is cut."""
    x = rng.normal(2, 400)
    x[0, 7] = 1e3
    check["layer_norm"](x, *affine(rng, 400))


def test_tiny_values(check, rng):
    """A variance around the size of eps, where eps and its place show."""
    check["layer_norm"](rng.normal(3, 4, 8, scale=3e-3), *affine(rng, 8))


def test_constant_tokens(check, rng):
    """No variance at all: the result is the bias, and no NaN in result or gradient."""
    x = rng.integers(-4, 5, 2, 3, 1).double().expand(2, 3, 8).clone()
    x[1, 2] = 0.0
    check["layer_norm"](x, *affine(rng, 8))


@pytest.mark.derive
def test_constant_tokens_of_any_value(check, rng):
    """Numbers whose squares have more digits than float32: rounding must not make a NaN of a token without variance."""
    x = (rng.integers(-64000, 64001, 4, 24, 1).double() / 64).expand(4, 24, 7).clone()
    weight, bias = affine(rng, 7)
    y = check["layer_norm"].run(x, weight, bias).got
    check.that(y.shape == x.shape, "the result has another shape than x")
    check.that(y.isfinite().all(), "a token whose features are all equal comes out as NaN or infinity")
    near = ((y - bias).abs() <= 0.25 * weight.abs().max()).all()
    check.that(near, "a token whose features are all equal comes out as something else than the bias")


def test_large_values(check, rng):
    """Values in the thousands, or far apart: squares do not fit into float16, nor those of float64 into float32."""
    scale = 1e25 if check.dtype == torch.float64 else 2e3
    check["layer_norm"](rng.normal(3, 4, 8, scale=scale), *affine(rng, 8))
    x = torch.full((2, 8), -20.0 * scale, dtype=torch.float64)
    x[:, 2] = 20.0 * scale
    check["layer_norm"](x, *affine(rng, 8))


def test_values_far_from_zero(check, rng):
    """A mean much larger than the deviations: it takes all the digits that the input has."""
    offset = {torch.float64: 2048.0, torch.float32: 2.0}.get(check.dtype, 64.0)
    check["layer_norm"](offset + 1.5 * rng.normal(6, 4, 16), *affine(rng, 16))
    check["layer_norm"](offset + 1.5 * rng.normal(2, 300), *affine(rng, 300))


@pytest.mark.derive("dtype", "device")
@pytest.mark.parametrize("width", [64, 1100])
def test_mean_thousands_of_deviations_away(check, rng, width):
    """A mean far above the deviations: the mean of the squares less the square of the mean has lost their digits."""
    weight, bias = affine(rng, width)
    steps = rng.integers(-1, 2, 6, width // 2).double()
    deviations = torch.cat([steps, -steps], dim=1)  # whole numbers, so that their mean is 0 without any rounding
    spacing = 8.0 if check.dtype == torch.bfloat16 else 1.0  # of the numbers around 2000
    y = check["layer_norm"].run(2000.0 + spacing * deviations, weight, bias).got
    check.that(y.shape == deviations.shape, "the result has another shape than x")
    variance = deviations.square().mean(-1, keepdim=True)
    wanted = deviations / (variance + 1e-5 / spacing**2).sqrt() * weight + bias
    few_digits = 0.05 if check.dtype == torch.bfloat16 else 0.01
    near = (y - wanted).abs() <= few_digits * (1.0 + wanted.abs())
    check.that(near.all(), "the deviations have lost their digits")


@pytest.mark.parametrize("eps", [0.5, 1e-3])
def test_eps_is_an_argument(check, rng, eps):
    """By name and as the fourth argument."""
    x, (weight, bias) = rng.normal(2, 3, 6, scale=0.05), affine(rng, 6)
    check["layer_norm"](x, weight, bias, eps=eps)
    check["layer_norm"](x, weight, bias, eps)


def test_negative_weights_and_a_large_bias(check, rng):
    """First the scale, then the shift, feature by feature."""
    check["layer_norm"](rng.normal(2, 3, 6), -1.0 - rng.uniform(6), 3.0 * rng.normal(6))


def test_transposed_input(check, rng):
    """A view whose features do not lie side by side."""
    check["layer_norm"](rng.normal(2, 6, 5).transpose(1, 2), *affine(rng, 6))
    check["layer_norm"](rng.normal(4, 3, 10)[:, :, ::2], *affine(rng, 5))


def test_module(check, rng):
    """The module with its own weight and bias."""
    norm = check["LayerNorm"](6)
    norm(rng.normal(2, 3, 6))


def test_module_and_tiny_values(check, rng):
    """The default eps of the module."""
    norm = check["LayerNorm"](normalized_shape=8)
    norm(rng.normal(3, 4, 8, scale=3e-3))


def test_module_with_its_own_eps(check, rng):
    """By name and by position."""
    by_name, by_position = check["LayerNorm"](6, eps=0.1), check["LayerNorm"](6, 1e-3)
    x = rng.normal(2, 3, 6, scale=0.05)
    by_name(x)
    by_position(x)


@pytest.mark.derive("dtype")
def test_module_kept_in_float32(check, rng):
    """The module is in float32 whatever x is, as under autocast: the result has the dtype of x."""
    norm = check["LayerNorm"](6)
    norm.method("__init__", 6)  # as it is built: in float32, and never cast
    norm(rng.normal(2, 3, 6))


@pytest.mark.derive
def test_half_precision_first(check, rng):
    """What comes in half precision leaves weight and bias of a float32 module as they were."""
    first, again = around_another_dtype(check, check["LayerNorm"](6), rng.normal(2, 3, 6))
    check.same(again, first, "a call in another dtype changes the weight or the bias")


@pytest.mark.derive("grad", "device")
def test_training_and_evaluation(check, rng):
    """Both modes do the same, and no call leaves a trace for the next."""
    norm = check["LayerNorm"](6)
    x = rng.normal(2, 3, 6)
    before = norm.train()(x)
    norm(5.0 + 3.0 * rng.normal(4, 2, 6))
    check.same(before, norm.eval()(x), "the same call gave another result in evaluation mode, after another call")


@pytest.mark.derive
def test_a_new_module(check, rng):
    """Before training it only normalises."""
    x = rng.normal(4, 5, 6)
    neutral = check["LayerNorm"](6).set(weight=torch.ones(6), bias=torch.zeros(6))
    new = check["LayerNorm"](6).fresh()
    check.close(
        new.run(x), neutral(x), "a new module does more than normalise: weight or bias starts at the wrong value"
    )


@pytest.mark.derive
def test_a_new_module_and_then_trained(check, rng):
    """A call of a new module leaves nothing behind: weights that come later count."""
    x = rng.normal(4, 5, 6)
    norm = check["LayerNorm"](6).set(weight=torch.ones(6), bias=torch.zeros(6))
    norm(x)
    norm.set(weight=rng.normal(6), bias=rng.normal(6))(x)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    for shape in ((9, 1, 1, 5), (1, 1, 3, 5), (9, 1, 5), (1, 300, 5), (3, 3, 3, 3), (2, 300), (4, 2), (2, 5)):
        weight, bias = affine(rng, shape[-1])
        x = rng.normal(*shape)
        check["layer_norm"](x, weight, bias, 0.0)
        check["layer_norm"](x, weight, bias, 1.0)
        check["LayerNorm"](shape[-1]).set(weight=weight, bias=bias)(3e4 * x)
    pair = affine(rng, 2)
    check["layer_norm"](rng.normal(2), *pair)
    check["LayerNorm"](3, 1e-4).train()(0.01 * rng.normal(2, 3))
    check["layer_norm"](rng.normal(2, 1100) + 3.0, *affine(rng, 1100))
    row = rng.normal(5)
    for arguments in ((row, row, bias), (row, bias, row), (row, bias, bias)):
        check["layer_norm"](*arguments)
    for width, eps in ((1, 1e-5), (3, 0.0), (3, 1.0), (70, 1e-5)):
        check["LayerNorm"](width, eps)(rng.normal(3, 3, width))


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    x = rng.normal(6, scale=scale)
    check["layer_norm"](x, x, x)
