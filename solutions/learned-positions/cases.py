"""Hidden cases of learned-positions."""

import pytest
import torch

from grader.kit import dropout_gradients
from grader.kit.defaults import around_another_dtype, no_graph, of_everything
from grader.kit.inference import drops_in_inference_mode


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    encoding = check.module(max_len=3, d_model=2).set(pe=torch.tensor([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]]))
    encoding(torch.tensor([[[10.0, 10.0], [20.0, 20.0]]]))


def test_two_sequences(check, rng):
    """The smallest call: two sequences of three tokens, and rows that are not used."""
    encoding = check.module(max_len=5, d_model=4)
    encoding(rng.normal(2, 3, 4))


def test_one_token(check, rng):
    """A sequence of one token stands at position 0."""
    encoding = check.module(max_len=6, d_model=5)
    encoding(rng.normal(3, 1, 5))


def test_larger_batch_than_table(check, rng):
    """Positions run along the sequence, not along the batch."""
    encoding = check.module(max_len=4, d_model=6)
    with of_everything(check):
        encoding(rng.normal(40, 3, 6))


def test_all_sizes_are_equal(check, rng):
    """B == S == d_model == max_len, where a wrong axis does not show in the shape."""
    encoding = check.module(max_len=5, d_model=5)
    encoding(rng.normal(5, 5, 5))


@pytest.mark.parametrize("max_len", [1, 2, 9])
def test_sequence_as_long_as_the_table(check, rng, max_len):
    """S == max_len still fits, also where that is one position."""
    encoding = check.module(max_len=max_len, d_model=3)
    encoding(rng.normal(2, max_len, 3))


def test_width_of_one(check, rng):
    """Tokens of a single feature."""
    encoding = check.module(max_len=8, d_model=1)
    encoding(rng.normal(2, 6, 1))


def test_calls_of_different_lengths(check, rng):
    """Nothing of one call stays behind in the module."""
    encoding = check.module(max_len=9, d_model=4)
    encoding(rng.normal(2, 3, 4))
    encoding(rng.normal(4, 9, 4))
    encoding(rng.normal(1, 2, 4))


@pytest.mark.derive
def test_each_call_begins_at_position_0(check, rng):
    """Calls of one length, which would fit into the table one behind the other."""
    encoding = check.module(max_len=9, d_model=4)
    for length in (1, 1, 3, 3):
        encoding(rng.normal(2, length, 4))


@pytest.mark.derive
def test_table_is_the_only_parameter(check):
    """What training changes is the table: anything else that lies beside it in the state dict is a buffer."""
    encoding = check.module(max_len=5, d_model=4)
    not_loaded = encoding.do("load_state_dict", {}, strict=False).got
    names = not_loaded[0] if isinstance(not_loaded, tuple) else []
    for name in names:
        if name != "pe" and "." not in name:
            encoding.do("get_buffer", name)


def test_settings_by_position(check, rng):
    """max_len, d_model, dropout, in this order; no dropout in evaluation mode."""
    encoding = check.module(11, 6, 0.5)
    encoding(rng.normal(2, 7, 6))


def test_large_tokens_are_not_scaled(check, rng):
    """The module adds positions and leaves the size of the tokens alone."""
    encoding = check.module(max_len=8, d_model=16)
    encoding(rng.normal(2, 8, 16, scale=30.0))


def test_large_positions(check, rng):
    """The table is added as it is, whatever training has made of it."""
    encoding = check.module(max_len=8, d_model=6)
    for scale in (30.0, 30.0 if check.dtype == torch.float16 else 1e5):
        encoding.set(pe=rng.normal(8, 6, scale=scale))
        encoding(rng.normal(2, 5, 6))


def test_transposed_tokens(check, rng):
    """Tokens that were length first are a view, not a copy."""
    encoding = check.module(max_len=8, d_model=6)
    encoding(rng.normal(5, 2, 6).transpose(0, 1))


def test_training_without_dropout(check, rng):
    """Dropout = 0.0, the default, changes nothing in training either."""
    encoding = check.module(max_len=10, d_model=6).train()
    encoding(rng.normal(2, 5, 6))


@pytest.mark.derive("grad", "device")
def test_half_of_the_entries_dropped(check, rng):
    """In training each entry of the sum is either dropped or made up for, one by one."""
    encoding = check.module(max_len=40, d_model=16, dropout=0.5)
    x = rng.normal(2, 30, 16) + 20.0  # no entry of the sum is near 0
    full = encoding(x).got
    dropped = encoding.train().run(x).got
    check.that(isinstance(dropped, torch.Tensor), "the result in training is not a tensor")
    check.that(dropped.shape == full.shape, "training changes the shape of the result")
    gone = dropped == 0
    kept = (dropped - 2 * full).abs() <= 1e-4 * full.abs().max()
    check.that((gone | kept).all(), "an entry in training is neither 0 nor twice the sum at dropout 0.5")
    check.that(0.3 < gone.float().mean() < 0.7, "far more or fewer entries than half are dropped at dropout 0.5")
    mixed = (gone.any(-1) & ~gone.all(-1)).float().mean()
    check.that(mixed > 0.9, "tokens are dropped as a whole")
    view = encoding.run((rng.normal(1, 30, 16) + 20.0).expand(2, 30, 16)).got  # two sequences in one memory
    check.that(view.shape == full.shape, "training changes the shape of the result")
    for one, other in (dropped, view):
        check.that(((one == 0) != (other == 0)).any(), "all sequences lose the same entries")
    alone = (encoding.run(rng.normal(40, 1, 16) + 20.0).got == 0).float().mean()
    check.that(0.3 < alone < 0.7, "far more or fewer entries than half are dropped at dropout 0.5")


@pytest.mark.grad
def test_gradients_follow_what_was_dropped(check, rng):
    """What was dropped gets no gradient, neither the token nor its position; what was kept gets a larger one."""
    x, pe = rng.normal(2, 9, 16), rng.normal(9, 16)
    result = check.module(max_len=9, d_model=16, dropout=0.25).set(pe=pe).train().run(x)
    dropout_gradients.dropped_entry_by_entry(check, result, "x", 0.25)
    dropout_gradients.grows_with(check, result, {"x": x, "pe": pe})


@pytest.mark.derive
def test_each_call_drops_anew(check, rng):
    """Two calls in training drop different entries."""
    encoding = check.module(max_len=9, d_model=16, dropout=0.5).train()
    x = rng.normal(2, 8, 16)
    first = encoding.run(x).got
    check.roll()
    second = encoding.run(x).got
    both = isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor)
    check.that(both, "the result in training is not a tensor")
    check.that(not torch.equal(first, second), "two calls in training drop the same entries")


@pytest.mark.derive
def test_everything_dropped(check, rng):
    """With a rate of 1 nothing is left of the sum in training, and all of it in evaluation."""
    encoding = check.module(max_len=9, d_model=6, dropout=1.0)
    encoding.train()(rng.normal(2, 3, 6))
    encoding.eval()(rng.normal(2, 3, 6))


@pytest.mark.derive
def test_dropout_in_inference_mode(check, rng):
    """What nobody differentiates drops as well, as long as the module is in training."""
    encoding = check.module(max_len=9, d_model=16, dropout=0.5)
    check.that(
        drops_in_inference_mode(check, encoding, rng.normal(2, 8, 16)),
        "two calls in training are alike in inference mode: nothing was dropped",
    )


@pytest.mark.derive("dtype")
def test_module_kept_in_float32(check, rng):
    """The module is in float32 whatever the tokens are, as under autocast: the result has the dtype of the tokens."""
    encoding = check.module(max_len=13, d_model=7)
    encoding.method("__init__", max_len=13, d_model=7)  # as it is built: in float32, and never cast
    x = rng.normal(2, 5, 7)
    result, positions = encoding.run(x).got, encoding.run(0.0 * x).got
    check.that(
        getattr(result, "dtype", None) == check.dtype,
        "tokens of another dtype than the table's do not come back in their own dtype",
    )
    whole = check.dtype != torch.float64 or bool((result - positions - x).abs().max() < 1e-12)
    check.that(whole, "numbers of float64 came back with the digits of a shorter type")


@pytest.mark.derive
def test_tokens_in_half_precision_first(check, rng):
    """Half-precision tokens leave the table of a float32 module as it was."""
    first, again = around_another_dtype(check, check.module(max_len=9, d_model=6), rng.normal(2, 5, 6))
    check.same(again, first, "tokens of another dtype change the table")


@pytest.mark.derive("dtype")
def test_digits_of_double_precision(check, rng):
    """In float64 large tokens and large positions nearly cancel: what is left must have all its digits."""
    level = 2.0**26 if check.dtype == torch.float64 else 0.0
    encoding = check.module(max_len=9, d_model=4)
    encoding.set(pe=rng.normal(9, 4) - level)
    x = rng.normal(2, 5, 4) + level
    encoding(x)
    with no_graph(check):
        encoding(x)


@pytest.mark.contract
@pytest.mark.parametrize("length", [6, 7, 12])
def test_too_long_a_sequence(check, rng, length):
    """A sequence longer than the table is refused with a ValueError, in evaluation mode and in training."""
    encoding = check.module(max_len=5, d_model=4)
    with check.raises(ValueError):
        encoding(rng.normal(2, length, 4))
    with check.raises(ValueError):
        encoding.train()(rng.normal(2, length, 4))
    encoding.eval()(rng.normal(2, 5, 4))


@pytest.mark.contract
def test_too_long_for_a_single_position(check, rng):
    """A table of one row must not serve every position."""
    encoding = check.module(max_len=1, d_model=4)
    for batch, length in ((1, 2), (1, 70), (2, 3)):
        with check.raises(ValueError):
            encoding.eval()(rng.normal(batch, length, 4))
        with check.raises(ValueError):
            encoding.train()(rng.normal(batch, length, 4))


@pytest.mark.contract
def test_batch_as_large_as_the_table(check, rng):
    """The length that counts is the sequence's, not the batch's."""
    encoding = check.module(max_len=4, d_model=3)
    encoding(rng.normal(9, 4, 3))
    with check.raises(ValueError):
        encoding(rng.normal(2, 5, 3))


@pytest.mark.contract
def test_tokens_are_used_again(check, rng):
    """The caller's tokens serve for a second call that gives the same result."""
    encoding = check.module(max_len=6, d_model=4)
    x = rng.normal(2, 5, 4)
    first = encoding(x)
    second = encoding(x)
    check.same(second, first, "the same call gives another result the second time")


@pytest.mark.derive("grad")
def test_sizes_that_people_run(check, rng):
    """A text of 600 tokens, cut out of a longer one; as many sequences as tokens, and another width."""
    encoding = check.module(max_len=600, d_model=6)
    with of_everything(check):
        encoding(rng.normal(3, 601, 6)[1:, 1:])
    encoding = check.module(max_len=7, d_model=4)
    encoding(rng.normal(5, 5, 4))


@pytest.mark.derive
def test_training_after_evaluation(check, rng):
    """Evaluation, training and evaluation again: dropout comes back with each training."""
    encoding = check.module(max_len=9, d_model=16, dropout=0.5)
    x = rng.normal(2, 8, 16) + 20.0  # no entry of the sum is near 0
    for _ in range(2):
        encoding.eval()(x)
        encoding(x)
        dropped = encoding.train().run(x).got
        check.that((dropped == 0).any(), "nothing is dropped in training that comes after evaluation")


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    check.module(max_len=9, d_model=70)(rng.normal(2, 4, 70))
    check.module(max_len=300, d_model=4)(rng.normal(2, 5, 4))
    for length in (1, 4, 4, 4):
        check.module(max_len=length, d_model=4)(rng.normal(1, length, 4))
