"""Hidden cases of ffn."""

import pytest
import torch

from grader.kit import dropout_gradients
from grader.kit.inference import drops_in_inference_mode


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    ffn = check.module(2, 3)
    ffn.set(dense1__weight=torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]]), dense1__bias=torch.zeros(3))
    ffn.set(dense2__weight=torch.tensor([[1.0, 1.0, 1.0], [0.0, 2.0, 5.0]]), dense2__bias=torch.tensor([0.0, 1.0]))
    ffn(torch.tensor([[1.0, 5.0], [5.0, 2.0]]))


def test_one_token(check, rng):
    """The smallest call."""
    ffn = check.module(4, 6)
    ffn(rng.normal(1, 1, 4))


def test_a_batch_of_sequences(check, rng):
    """(B, S, d_model): every token by itself; without d_out the width stays."""
    ffn = check.module(d_model=6, d_ff=11)
    ffn(rng.normal(2, 5, 6))


def test_another_width_comes_out(check, rng):
    """d_out differs from d_model, by name and as the third setting."""
    by_name, by_position = check.module(d_model=5, d_ff=7, d_out=3), check.module(4, 6, 9)
    by_name(rng.normal(2, 3, 5))
    by_position(rng.normal(2, 3, 4))


def test_axes_of_one_size(check, rng):
    """B == S == d_model == d_ff == d_out, where a wrong axis does not show in the shape."""
    ffn = check.module(4, 4, 4)
    ffn(rng.normal(4, 4, 4))


def test_narrow_layers(check, rng):
    """A hidden layer narrower than the tokens, down to one unit, and tokens of width one."""
    narrow, one_unit, thin = check.module(8, 3), check.module(5, 1), check.module(1, 6, 1)
    narrow(rng.normal(2, 3, 8))
    one_unit(rng.normal(2, 4, 5))
    thin(rng.normal(2, 3, 1))


@pytest.mark.parametrize("shape", [(6,), (4, 6), (2, 3, 4, 6)])
def test_any_leading_axes(check, rng, shape):
    """One token, a matrix, heads in between: the last axis is what counts."""
    ffn = check.module(6, 10)
    ffn(rng.normal(*shape))


def test_loud_tokens(check, rng):
    """Hidden units far from 0 on both sides, where a smooth activation would look like another one."""
    ffn = check.module(6, 16)
    ffn(rng.normal(2, 5, 6, scale=8.0))


def test_quiet_tokens(check, rng):
    """Hidden units close to 0, where smooth activations and ReLU differ most."""
    ffn = check.module(6, 16).set(dense1__bias=torch.zeros(16), dense2__bias=torch.zeros(6))
    ffn(rng.normal(2, 5, 6, scale=0.3))


def test_all_units_off(check, rng):
    """No hidden unit is above 0: what is left is the bias of the second layer."""
    ffn = check.module(6, 8).set(dense1__bias=torch.full((8,), -60.0))
    ffn(rng.normal(2, 3, 6))


def test_biases_that_matter(check, rng):
    """Each bias is as large as what it is added to."""
    ffn = check.module(6, 8).set(dense1__bias=rng.normal(8, scale=3.0), dense2__bias=rng.normal(6, scale=3.0))
    ffn(rng.normal(2, 3, 6))


def test_transposed_input(check, rng):
    """A view whose features do not lie side by side."""
    ffn = check.module(6, 8, 5)
    ffn(rng.normal(2, 6, 4).transpose(1, 2))


def test_digits_of_double_precision(check, rng):
    """In float64 the hidden units lie around a million and cancel: the digits must not get lost on the way."""
    height = 1e6 if check.dtype == torch.float64 else 1.0
    second = rng.normal(6, 8) / 8**0.5
    ffn = check.module(6, 8).set(
        dense1__bias=torch.full((8,), height, dtype=torch.float64),
        dense2__weight=second,
        dense2__bias=-height * second.sum(1) if check.dtype == torch.float64 else rng.normal(6),
    )
    ffn(rng.normal(2, 3, 6))


def test_no_dropout_in_evaluation(check, rng):
    """In evaluation mode a rate of one half, the fourth setting, changes nothing."""
    ffn = check.module(6, 9, None, 0.5)
    ffn(rng.normal(2, 3, 6))


@pytest.mark.derive("grad", "device")
def test_training_without_dropout(check, rng):
    """In training a rate of 0, the default, changes nothing; no call leaves a trace for the next."""
    ffn = check.module(6, 9, 4)
    x = rng.normal(2, 3, 6)
    before = ffn.train()(x)
    ffn(rng.normal(4, 2, 6))
    check.same(before, ffn.eval()(x), "the same call gave another result in evaluation mode")


@pytest.mark.derive("grad", "device", "contract")
def test_what_dropout_drops(check):
    """Hidden units are dropped one by one, for each token anew, and what is kept is rescaled."""
    batch, length, width, rate = 20, 6, 12, 0.25
    identity, ones = torch.eye(width, dtype=torch.float64), torch.ones(width, dtype=torch.float64)
    ffn = check.module(width, width, dropout=rate).train()
    ffn.set(dense1__weight=0 * identity, dense1__bias=ones, dense2__weight=2 * identity, dense2__bias=ones)
    got = ffn.run(torch.ones(batch, length, width, dtype=torch.float64)).got
    check.that(isinstance(got, torch.Tensor), "the result in training is not a tensor")
    got = got.detach().double()
    check.that(got.shape == (batch, length, width), f"the result has the shape {tuple(got.shape)}")
    hidden = (got - 1) / 2  # all units are 1, and the second layer passes them on
    check.that(bool(((hidden - 1).abs() > 0.01).any()), "in training no hidden unit was dropped")
    dropped, kept = hidden.abs() < 0.01, (hidden * (1 - rate) - 1).abs() < 0.01
    check.that(bool((dropped | kept).all()), "a hidden unit is neither dropped nor divided by 1 - dropout")
    share = dropped.double().mean().item()
    check.that(abs(share - rate) < 0.1, f"a share of {share:.2f} was dropped at a rate of {rate}")
    mixed = (dropped.any(-1) & kept.any(-1)).double().mean()
    check.that(bool(mixed > 0.7), "whole tokens are dropped instead of single hidden units")
    check.that(bool((dropped != dropped[:1]).any()), "all batch rows lose the same hidden units")
    check.that(bool((dropped != dropped[:, :1]).any()), "all tokens lose the same hidden units")
    for shape in ((width,), (length, width), (2, 2, length, width)):
        got = ffn.run(torch.ones(*shape, dtype=torch.float64)).got
        check.that(isinstance(got, torch.Tensor), "the result in training is not a tensor")
        hidden = (got.detach().double() - 1) / 2
        either = (hidden.abs() < 0.01) | ((hidden * (1 - rate) - 1).abs() < 0.01)
        check.that(bool(either.all()), "a hidden unit is neither dropped nor divided by 1 - dropout")


@pytest.mark.grad
def test_gradients_follow_what_was_dropped(check, rng):
    """A hidden unit that was dropped has no part in the gradient of x, and one that was kept has a larger one."""
    ffn = check.module(6, 32, 4, dropout=0.25).set(dense1__bias=torch.zeros(32), dense2__bias=torch.zeros(4))
    x = rng.normal(2, 3, 6)
    dropout_gradients.grows_with(check, ffn.train().run(x), {"x": x})


@pytest.mark.derive
def test_each_call_drops_anew(check, rng):
    """Two calls in training drop different hidden units."""
    ffn = check.module(6, 32, dropout=0.5).train()
    x = rng.normal(2, 8, 6)
    first = ffn.run(x).got
    check.roll()
    second = ffn.run(x).got
    both = isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor)
    check.that(both, "the result in training is not a tensor")
    check.that(not torch.equal(first, second), "two calls in training drop the same hidden units")


@pytest.mark.derive
def test_dropout_in_inference_mode(check, rng):
    """What nobody differentiates drops as well, as long as the module is in training."""
    ffn = check.module(6, 32, dropout=0.5)
    check.that(
        drops_in_inference_mode(check, ffn, rng.normal(2, 8, 6)),
        "two calls in training are alike in inference mode: nothing was dropped",
    )


@pytest.mark.derive
def test_everything_dropped(check, rng):
    """With a rate of 1 no hidden unit is left in training: what remains is a bias. In evaluation all are."""
    ffn = check.module(6, 9, 4, dropout=1.0)
    for shape in ((6,), (3, 6), (2, 3, 6)):
        ffn.train()(rng.normal(*shape))
        ffn.eval()(rng.normal(*shape))


@pytest.mark.derive
def test_tokens_of_zeros(check, rng):
    """A token of zeros is a token: it gets what the biases make of it."""
    x = rng.normal(2, 4, 5)
    x[0, 1] = 0.0
    x[1, 2:] = 0.0
    check.module(5, 7)(x)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    for shape in ((9, 1, 1, 3), (1, 2, 2, 3), (1, 1100, 3), (3, 3, 3, 3)):
        check.module(3, 3, 3)(rng.normal(*shape))
    ffn = check.module(70, 80, 90)
    x = rng.normal(2, 70)
    ffn(3e4 * x)
    ffn.train()(x)
    ffn.eval()(x)
