"""Hidden cases of swiglu."""

import pytest
import torch


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    swiglu = check.module(2, 3).set(
        w1__weight=torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]]),
        w3__weight=torch.tensor([[0.0, 10.0], [10.0, 0.0], [10.0, 10.0]]),
        w2__weight=torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]),
    )
    swiglu(torch.tensor([[1.0, 2.0], [-1.0, 0.0]]))


def test_one_token(check, rng):
    """The smallest call."""
    swiglu = check.module(4, 6)
    swiglu(rng.normal(1, 1, 4))


def test_a_batch_of_sequences(check, rng):
    """(B, S, d_model): every token by itself, and the width stays."""
    swiglu = check.module(d_model=6, d_ff=11)
    swiglu(rng.normal(2, 5, 6))


def test_axes_of_one_size(check, rng):
    """B == S == d_model == d_ff, where a wrong axis or layer does not show in the shape."""
    swiglu = check.module(4, 4)
    swiglu(rng.normal(4, 4, 4))


def test_narrow_layers(check, rng):
    """A hidden layer narrower than the tokens, down to one unit, and tokens of width one."""
    narrow, one_unit, thin = check.module(8, 3), check.module(5, 1), check.module(1, 6)
    narrow(rng.normal(2, 3, 8))
    one_unit(rng.normal(2, 4, 5))
    away_from_nought = {"low": 0.5, "high": 1.5}  # one number a token: nothing else says how large it may be
    thin.set(w1__weight=rng.uniform(6, 1, **away_from_nought), w2__weight=rng.uniform(1, 6, **away_from_nought))
    thin.set(w3__weight=rng.uniform(6, 1, **away_from_nought))
    thin(rng.uniform(2, 3, 1, **away_from_nought))


@pytest.mark.parametrize("shape", [(6,), (4, 6), (2, 3, 4, 6)])
def test_any_leading_axes(check, rng, shape):
    """One token, a matrix, heads in between: the last axis is what counts."""
    swiglu = check.module(6, 10)
    swiglu(rng.normal(*shape))


def test_loud_tokens(check, rng):
    """Gates far from 0 on both sides: open or shut, with nothing in between."""
    swiglu = check.module(6, 16)
    swiglu(rng.normal(2, 5, 6, scale=8.0))


def test_quiet_tokens(check, rng):
    """Gates close to 0: half open, where activations of other kinds are something else."""
    swiglu = check.module(6, 16)
    swiglu(rng.normal(2, 5, 6, scale=0.3))


def test_all_gates_shut(check, rng):
    """All gates lie around -3, where SiLU turns round and lets little through: nothing else does quite that."""
    w1 = torch.cat([rng.normal(8, 5, scale=0.3), torch.full((8, 1), -3.0, dtype=torch.float64)], dim=1)
    swiglu = check.module(6, 8).set(w1__weight=w1)
    x = rng.normal(2, 5, 6)
    x[..., -1] = 1.0
    swiglu(x)


def test_gates_half_way(check, rng):
    """Gates between 1 and 2 with values of either sign: the gate and the value cannot change places."""
    w1 = torch.cat([rng.normal(8, 5, scale=0.1), rng.uniform(8, 1, low=1.0, high=2.0)], dim=1)
    swiglu = check.module(6, 8).set(w1__weight=w1, w3__weight=rng.normal(8, 6))
    x = rng.normal(2, 5, 6)
    x[..., -1] = 1.0
    swiglu(x)


@pytest.mark.grad
def test_gates_shut_for_good(check, rng):
    """All gates are far below 0, where nothing gets through: `backward()` works as ever, and all gradients are 0."""
    swiglu = check.module(5, 8).set(w1__weight=torch.full((8, 5), -1e3, dtype=torch.float64))
    learns = swiglu(rng.uniform(3, 4, 5, low=0.5, high=1.5)).carries_gradient or not check.variant.grad
    check.that(learns, "the result has no graph where all gates are shut: backward() raises")


@pytest.mark.derive("grad", "device", "contract")
def test_gates_of_ten_thousand(check, rng):
    """Exponentials of such numbers are infinite or 0: neither result nor gradient may show it."""
    swiglu = check.module(5, 8).set(w1__weight=1e4 * rng.normal(8, 5))
    swiglu(rng.normal(3, 4, 5))


def test_transposed_input(check, rng):
    """A view whose features do not lie side by side."""
    swiglu = check.module(6, 8)
    swiglu(rng.normal(2, 6, 4).transpose(1, 2))
    swiglu(rng.normal(2, 4, 12)[..., ::2])


@pytest.mark.parametrize("branch", ["w1__weight", "w3__weight"])
def test_digits_of_double_precision(check, rng, branch):
    """In float64 gates or values lie around a million and cancel: the digits must not get lost on the way."""
    height = 1e6 if check.dtype == torch.float64 else 1.0
    level, back, other = torch.zeros(4, 6, dtype=torch.float64), rng.normal(6, 4), rng.normal(4, 6)
    level[:, -1] = height
    swiglu = check.module(6, 8).set(w1__weight=torch.cat([other, other]), w3__weight=torch.cat([other, other]))
    swiglu.set(**{branch: torch.cat([level + rng.normal(4, 6), level])})
    swiglu.set(w2__weight=torch.cat([back, -back], dim=1))
    x = rng.normal(2, 3, 6)
    x[..., -1] = 1.0
    swiglu(x)


@pytest.mark.derive("grad", "device")
def test_training_and_evaluation(check, rng):
    """Both modes do the same, and no call leaves a trace for the next."""
    swiglu = check.module(6, 9)
    x = rng.normal(2, 3, 6)
    before = swiglu.train()(x)
    swiglu(rng.normal(4, 2, 6))
    check.same(before, swiglu.eval()(x), "the same call gave another result in evaluation mode")


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    for shape in ((9, 1, 1, 3), (1, 2, 2, 3), (9, 2, 3), (1, 300, 3), (3, 3, 3, 3)):
        check.module(3, 3)(rng.normal(*shape))
    check.module(3, 4)(rng.normal(20_000, 3))
    for _ in range(3):
        check.module(1, 5)(rng.normal(1))
    check.module(3, 1100)(rng.normal(2, 3))
    swiglu = check.module(70, 80)
    x = rng.normal(2, 70)
    swiglu(3e4 * x)
    swiglu.train()(x)
    swiglu.eval()(x)
