"""Hidden cases of positional-encoding."""

import pytest
import torch

from grader.kit import dropout_gradients
from grader.kit.defaults import around_another_dtype, default_of_bfloat16
from grader.kit.inference import drops_in_inference_mode


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    check["sinusoidal_encoding"](3, 4, base=100)


def test_one_position(check):
    """Position 0: sines of 0 and cosines of 0, in turn."""
    check["sinusoidal_encoding"](1, 4)


def test_smallest_table(check):
    """One pair of columns and a few positions."""
    check["sinusoidal_encoding"](5, 2)


def test_table(check):
    """Enough columns to tell the frequencies apart."""
    check["sinusoidal_encoding"](12, 8)


def test_wide_table(check):
    """More columns than positions."""
    check["sinusoidal_encoding"](7, 32)


def test_longer_table(check):
    """64 positions, where a slightly wrong frequency adds up."""
    check["sinusoidal_encoding"](64, 16)


@pytest.mark.parametrize("d_model", [1, 3, 5, 9])
def test_odd_width(check, d_model):
    """With an odd width the last sine has no cosine."""
    check["sinusoidal_encoding"](10, d_model)


@pytest.mark.parametrize("base", [100.0, 2.0, 500000.0])
def test_base(check, base):
    """The base sets the slowest frequency."""
    check["sinusoidal_encoding"](12, 6, base=base)


def test_base_by_position_and_as_integer(check):
    """The base is the third argument; a whole number will do."""
    check["sinusoidal_encoding"](9, 5, 50)


@pytest.mark.derive("contract")
def test_position_700_of_the_table(check):
    """Far positions are as right as near ones, up to what float32 angles allow."""
    table = check["sinusoidal_encoding"].run(701, 8).got
    frequencies = 10000.0 ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8)
    angles = torch.arange(701, dtype=torch.float64)[:, None] * frequencies
    wanted = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    check.that(table.shape == (701, 8), "the table has another shape than (701, 8)")
    check.that(table.dtype == torch.float32, "the table is not float32")
    error = (table - wanted).abs().amax(-1)
    worst = int(error.argmax())
    check.that(error[worst] < 2e-4, f"position {worst} is off by more than 2e-4")


def test_adds_the_table(check, rng):
    """The smallest module call: two sequences of three tokens."""
    encoding = check["PositionalEncoding"](d_model=4)
    encoding(rng.normal(2, 3, 4))


def test_one_token(check, rng):
    """A sequence of one token stands at position 0."""
    encoding = check["PositionalEncoding"](d_model=6, max_len=10)
    encoding(rng.normal(3, 1, 6))


def test_odd_width_in_the_module(check, rng):
    """Tokens of width 5, and of width 1."""
    encoding = check["PositionalEncoding"](d_model=5, max_len=12)
    encoding(rng.normal(2, 7, 5))
    encoding = check["PositionalEncoding"](d_model=1, max_len=12)
    encoding(rng.normal(2, 7, 1))


def test_larger_batch_than_sequence(check, rng):
    """Positions run along the sequence, not along the batch."""
    encoding = check["PositionalEncoding"](d_model=6, max_len=20)
    encoding(rng.normal(7, 3, 6))


def test_batch_equals_length(check, rng):
    """B == S == d_model, where a wrong axis does not show in the shape."""
    encoding = check["PositionalEncoding"](d_model=6, max_len=20)
    encoding(rng.normal(6, 6, 6))


def test_sequence_as_long_as_the_table(check, rng):
    """S == max_len still fits."""
    encoding = check["PositionalEncoding"](d_model=4, max_len=5)
    encoding(rng.normal(2, 5, 4))


def test_table_of_one_position(check, rng):
    """max_len = 1 holds a single token."""
    encoding = check["PositionalEncoding"](d_model=3, max_len=1)
    encoding(rng.normal(2, 1, 3))


def test_calls_of_different_lengths(check, rng):
    """Nothing of one call stays behind in the module."""
    encoding = check["PositionalEncoding"](d_model=4, max_len=9)
    encoding(rng.normal(2, 3, 4))
    encoding(rng.normal(4, 9, 4))
    encoding(rng.normal(1, 2, 4))


def test_settings_by_position(check, rng):
    """d_model, max_len, dropout, in this order; no dropout in evaluation mode."""
    encoding = check["PositionalEncoding"](6, 11, 0.5)
    encoding(rng.normal(2, 11, 6))


def test_small_tokens_are_not_scaled(check, rng):
    """The module adds positions and leaves the size of the tokens alone."""
    encoding = check["PositionalEncoding"](d_model=16, max_len=8)
    encoding(rng.normal(2, 8, 16, scale=30.0))


@pytest.mark.derive("dtype", "device", "contract")
def test_700_positions_in_the_default_table(check, rng):
    """max_len = 1000 is the default, and far positions are right in every precision."""
    encoding = check["PositionalEncoding"](d_model=8)
    scale = 40.0 if check.dtype == torch.float64 else 4.0  # the table itself has the digits of float32
    encoding(rng.normal(2, 701, 8, scale=scale))


@pytest.mark.derive("device", "contract")
def test_default_table_ends_after_1000(check, rng):
    """A thousand tokens fit into the default table."""
    encoding = check["PositionalEncoding"](d_model=4)
    encoding(rng.normal(1, 1000, 4, scale=6.0))


@pytest.mark.derive("grad", "device")
def test_training_without_dropout(check, rng):
    """Dropout = 0.0 changes nothing in training either."""
    encoding = check["PositionalEncoding"](d_model=6, max_len=10).train()
    encoding(rng.normal(2, 5, 6))


@pytest.mark.derive("grad", "device")
def test_half_of_the_entries_dropped(check, rng):
    """In training each entry of the sum is either dropped or made up for, one by one."""
    encoding = check["PositionalEncoding"](d_model=16, max_len=30, dropout=0.5)
    x = rng.normal(2, 30, 16) + 5.0  # no entry of the sum is near 0
    full = encoding(x).got
    dropped = encoding.train().run(x).got
    check.that(dropped.shape == full.shape, "training changes the shape of the result")
    gone = dropped == 0
    kept = (dropped - 2 * full).abs() <= 1e-4 * full.abs().max()
    check.that((gone | kept).all(), "an entry in training is neither 0 nor twice the sum at dropout 0.5")
    check.that(0.3 < gone.float().mean() < 0.7, "far more or fewer entries than half are dropped at dropout 0.5")
    mixed = (gone.any(-1) & ~gone.all(-1)).float().mean()
    check.that(mixed > 0.9, "tokens are dropped as a whole")
    view = encoding.run((rng.normal(1, 30, 16) + 5.0).expand(2, 30, 16)).got  # two sequences in one memory
    check.that(view.shape == full.shape, "training changes the shape of the result")
    for one, other in (dropped, view):
        check.that(((one == 0) != (other == 0)).any(), "all sequences lose the same entries")


@pytest.mark.grad
def test_gradients_follow_what_was_dropped(check, rng):
    """An entry that was dropped gets no gradient, and one that was kept a larger one."""
    encoding = check["PositionalEncoding"](d_model=16, max_len=9, dropout=0.25).train()
    dropout_gradients.dropped_entry_by_entry(check, encoding.run(rng.normal(2, 9, 16)), "x", 0.25)


@pytest.mark.derive
def test_everything_dropped(check, rng):
    """With a rate of 1 nothing is left of the sum in training, and all of it in evaluation."""
    encoding = check["PositionalEncoding"](d_model=6, max_len=9, dropout=1.0)
    encoding.train()(rng.normal(2, 3, 6))
    encoding.eval()(rng.normal(2, 3, 6))


@pytest.mark.derive
def test_dropout_in_inference_mode(check, rng):
    """What nobody differentiates drops as well, as long as the module is in training."""
    encoding = check["PositionalEncoding"](d_model=16, max_len=9, dropout=0.5)
    check.that(
        drops_in_inference_mode(check, encoding, rng.normal(2, 8, 16)),
        "two calls in training are alike in inference mode: nothing was dropped",
    )


@pytest.mark.derive("dtype")
def test_module_kept_in_float32(check, rng):
    """The module is in float32 whatever the tokens are, as under autocast: the result has the dtype of the tokens."""
    encoding = check["PositionalEncoding"](d_model=6, max_len=10)
    encoding.method("__init__", d_model=6, max_len=10)  # as it is built: in float32, and never cast
    encoding(rng.normal(2, 5, 6))


@pytest.mark.grad
def test_table_is_not_a_parameter(check):
    """The table is a buffer: it moves with the module and takes no gradient."""
    encoding = check["PositionalEncoding"](d_model=6, max_len=10)
    with check.raises(AttributeError):
        encoding.method("get_parameter", "pe")


@pytest.mark.grad
def test_table_takes_no_gradient(check):
    """Nothing is learned here, so no graph leads to the table."""
    encoding = check["PositionalEncoding"](d_model=6, max_len=10)
    table = encoding.do("pe")
    check.that(table.got is not None, "there is no table `pe`")
    check.that(not table.carries_gradient, "the table `pe` takes a gradient")


@pytest.mark.contract
@pytest.mark.parametrize("length", [6, 7, 1200])
def test_too_long_a_sequence(check, rng, length):
    """A sequence longer than the table is refused with a ValueError, in evaluation mode and in training."""
    encoding = check["PositionalEncoding"](d_model=4, max_len=5)
    for batch in (1, 2):
        with check.raises(ValueError):
            encoding.eval()(rng.normal(batch, length, 4))
        with check.raises(ValueError):
            encoding.train()(rng.normal(batch, length, 4))
    encoding.eval()(rng.normal(2, 5, 4))


@pytest.mark.contract
def test_too_long_for_a_single_position(check, rng):
    """A table of one row must not serve every position."""
    encoding = check["PositionalEncoding"](d_model=4, max_len=1)
    with check.raises(ValueError):
        encoding(rng.normal(2, 3, 4))


@pytest.mark.contract
def test_too_long_for_the_default_table(check, rng):
    """1001 tokens do not fit into the default table."""
    encoding = check["PositionalEncoding"](d_model=4)
    with check.raises(ValueError):
        encoding(rng.normal(1, 1001, 4))


@pytest.mark.contract
def test_tokens_are_used_again(check, rng):
    """The caller's tokens serve for a second call that gives the same result."""
    encoding = check["PositionalEncoding"](d_model=4, max_len=6)
    x = rng.normal(2, 5, 4)
    first = encoding(x)
    second = encoding(x)
    check.same(second, first, "the same call gives another result the second time")


@pytest.mark.derive  # in float64 a table of float32 shows behind 500 tokens: an angle of 577 is rounded by 3e-5
def test_sizes_that_people_run(check, rng):
    """A text of 600 tokens, cut out of a longer one; as many sequences as tokens, and another width."""
    encoding = check["PositionalEncoding"](d_model=6, max_len=600)
    encoding(rng.normal(3, 601, 6)[1:, 1:])
    encoding = check["PositionalEncoding"](d_model=4, max_len=7)
    encoding(rng.normal(5, 5, 4))


@pytest.mark.derive
def test_training_after_evaluation(check, rng):
    """Evaluation, training and evaluation again: dropout comes back with each training."""
    encoding = check["PositionalEncoding"](d_model=16, max_len=9, dropout=0.5)
    x = rng.normal(2, 8, 16) + 20.0  # no entry of the sum is near 0
    for _ in range(2):
        encoding.eval()(x)
        encoding(x)
        dropped = encoding.train().run(x).got
        check.that((dropped == 0).any(), "nothing is dropped in training that comes after evaluation")


@pytest.mark.parametrize("base", [2.7, 0.5])
def test_fractional_base(check, base):
    """A base is any positive number, not a whole one only, and may lie below 1."""
    check["sinusoidal_encoding"](6, 6, base=base)


def test_width_of_a_model(check):
    """512 columns, each pair with a frequency of its own."""
    check["sinusoidal_encoding"](3, 512)


@pytest.mark.derive("contract")
def test_position_2100_of_the_table(check):
    """A table may be longer than any text so far; float32 angles lose a digit more here."""
    table = check["sinusoidal_encoding"].run(2101, 8).got
    frequencies = 10000.0 ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8)
    angles = torch.arange(2101, dtype=torch.float64)[:, None] * frequencies
    wanted = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    check.that(table.shape == (2101, 8), "the table has another shape than (2101, 8)")
    check.that((table - wanted).abs().max() < 2e-3, "positions behind 1000 are wrong")


@pytest.mark.derive
def test_table_is_a_buffer(check):
    """What moves with the module is found among its buffers."""
    encoding = check["PositionalEncoding"](d_model=6, max_len=10)
    encoding.do("get_buffer", "pe")


@pytest.mark.derive
def test_tokens_in_half_precision_first(check, rng):
    """Half-precision tokens leave the table of a float32 module as it was."""
    encoding = check["PositionalEncoding"](d_model=6, max_len=10)
    encoding.method("__init__", d_model=6, max_len=10)  # as it is built: in float32
    first, again = around_another_dtype(check, encoding, rng.normal(2, 5, 6))
    check.same(again, first, "tokens of another dtype change the table")


@pytest.mark.derive
def test_built_in_half_precision(check):
    """Whoever builds a model in bfloat16 makes that the default: angles are right all the same, numbers are rounded."""
    encoding = check["PositionalEncoding"](d_model=8, max_len=701)
    with default_of_bfloat16(check):
        encoding.method("__init__", d_model=8, max_len=701)
    got = encoding.run(torch.zeros(1, 701, 8, dtype=torch.bfloat16)).got
    check.that(getattr(got, "shape", ()) == (1, 701, 8), "the result has another shape than the tokens")
    angles = torch.arange(701).double()[:, None] / 10.0 ** torch.arange(4)
    wanted = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    check.that((got[0].double() - wanted).abs().max() < 0.02, "angles of bfloat16 are wrong by whole turns")


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    encoding = check["PositionalEncoding"](d_model=70, max_len=9)
    encoding(rng.normal(9, 4, 70))
    encoding(3e4 * rng.normal(2, 4, 70))
    check["sinusoidal_encoding"](5, 13)
    check["sinusoidal_encoding"](3, 4, base=2)


@pytest.mark.derive
def test_two_modules_of_one_size(check, rng):
    """Each has a table of its own: what is loaded into one is nothing to the other."""
    first, second = (check["PositionalEncoding"](d_model=6, max_len=10) for _ in range(2))
    x = rng.normal(2, 5, 6)
    first(x)
    second(x)
    table = first.do("pe").got
    check.that(isinstance(table, torch.Tensor), "there is no table `pe`")
    first.do("load_state_dict", {"pe": torch.ones_like(table)}, strict=False)  # a table need not be persistent
    second(x)
