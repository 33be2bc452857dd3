"""Hidden cases of rope."""

import math

import pytest
import torch

from grader.kit.defaults import default_of_bfloat16, of_dtype, of_everything
from grader.kit.inference import first_in_inference_mode


def rotate(check, x, **settings):
    """Make the tables for `x` where it will be, and turn it."""
    cos, sin = check["rotary_angles"](x.size(-2), x.size(-1), device=check.device, **settings)
    return check["apply_rotary"](x, cos, sin)


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    cos, sin = check["rotary_angles"](2, 4, base=100, offset=1, device=check.device)
    check["apply_rotary"](torch.tensor([[[[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]]]]), cos, sin)


def test_one_position(check):
    """Position 0: every angle is 0."""
    check["rotary_angles"](1, 4)


def test_smallest_table(check):
    """One pair of features, a few positions: the angle is the position."""
    check["rotary_angles"](5, 2)


def test_table(check):
    """Enough pairs to tell the frequencies apart, and fewer positions than pairs."""
    check["rotary_angles"](12, 8)
    check["rotary_angles"](7, 32)


@pytest.mark.parametrize("base", [100.0, 2.0, 500000.0])
def test_base(check, base):
    """The base sets the slowest frequency."""
    check["rotary_angles"](12, 6, base=base)


@pytest.mark.parametrize(("length", "offset"), [(4, 5), (1, 9), (6, 3)])
def test_offset(check, length, offset):
    """The first row belongs to position `offset`, and there are as many rows as ever."""
    check["rotary_angles"](length, 6, offset=offset)


def test_settings_by_position(check):
    """seq_len, d_head, base, offset, in this order; a base that is a whole number."""
    check["rotary_angles"](5, 10, 50, 2)


def test_tables_are_made_on_the_device(check):
    """`device` says where the tables are made."""
    check["rotary_angles"](5, 6, device=check.device)
    check["rotary_angles"](3, 8, 100.0, 4, check.device)


@pytest.mark.derive("device", "contract")
def test_no_device_is_the_default_one(check):
    """`None` leaves it to PyTorch: where a caller has set a default device, the tables are made there."""
    check["rotary_angles"](5, 6, device=None)
    check["rotary_angles"](3, 8, offset=4, device=None)


def off_by(tables, offset):
    """Return how far each row of the tables of (rows, 8) is from the true cosines and sines."""
    cos, sin = tables
    positions = torch.arange(offset, offset + cos.size(0), dtype=torch.float64)
    angles = positions[:, None] * 10000.0 ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8)
    return torch.maximum((cos - angles.cos()).abs(), (sin - angles.sin()).abs()).amax(-1)


@pytest.mark.derive
@pytest.mark.parametrize("offset", [0, 650])
def test_position_700(check, offset):
    """Far positions are as right as near ones, up to what float32 angles allow."""
    rows = 1100 - offset
    cos, sin = check["rotary_angles"].run(rows, 8, offset=offset).got
    check.that(cos.shape == sin.shape == (rows, 4), "a table has another shape than (seq_len, d_head // 2)")
    error = off_by((cos, sin), offset)
    near = 701 - offset
    worst = int(error[:near].argmax())
    check.that(error[worst] < 2e-4, f"position {offset + worst} is off by more than 2e-4")
    check.that((error < 2e-3).all(), f"the positions from {offset + near} on are wrong")


@pytest.mark.derive
@pytest.mark.parametrize("offset", [5000, 70000])
def test_behind_five_thousand_tokens(check, offset):
    """A cache may be longer than any table that was made beforehand."""
    cos, sin = check["rotary_angles"].run(3, 8, offset=offset).got
    check.that(cos.shape == sin.shape == (3, 4), "a table has another shape than (seq_len, d_head // 2)")
    allowed = 2e-6 * offset  # what angles in float32 are off by
    check.that((off_by((cos, sin), offset) < allowed).all(), f"the positions from {offset} on are wrong")
    single = check["rotary_angles"].run(1, 8, offset=offset).got
    check.that((off_by(single, offset) < allowed).all(), f"the positions from {offset} on are wrong")


@pytest.mark.derive
def test_tables_of_a_model_in_half_precision(check):
    """Whoever builds a model in bfloat16 makes that the default: the angles of its tables are right all the same."""
    with default_of_bfloat16(check):
        cos, sin = check["rotary_angles"].run(701, 8).got
    check.that(cos.shape == sin.shape == (701, 4), "a table has another shape than (seq_len, d_head // 2)")
    check.that((off_by((cos.double(), sin.double()), 0) < 0.02).all(), "angles of bfloat16 are wrong by whole turns")


@pytest.mark.derive
def test_offset_goes_on_where_the_table_stopped(check):
    """Two tables, one behind the other, are one table."""
    whole = check["rotary_angles"](11, 8)
    front, back = check["rotary_angles"](4, 8), check["rotary_angles"](7, 8, offset=4)
    for k in (0, 1):
        check.close(torch.cat([front[k].got, back[k].got]), whole[k].got, "a table with an offset does not continue")


def test_one_pair(check, rng):
    """One sequence, one head, three tokens of two features."""
    rotate(check, rng.normal(1, 1, 3, 2))


@pytest.mark.parametrize("shape", [(2, 3, 5, 8), (3, 2, 4, 6), (1, 5, 2, 4), (2, 1, 7, 16)])
def test_batch_of_heads(check, rng, shape):
    """The angles depend on the position only, not on sequence and head."""
    rotate(check, rng.normal(*shape))


def test_all_sizes_are_equal(check, rng):
    """B == H == S == d_head / 2, where a wrong axis does not show in the shape."""
    rotate(check, rng.normal(4, 4, 4, 8))


def test_heads_of_width_two_and_as_many_tokens(check, rng):
    """B == H == S == d_head."""
    rotate(check, rng.normal(2, 2, 2, 2), offset=3)


@pytest.mark.parametrize("offset", [1, 7])
def test_decode_step(check, rng, offset):
    """A single new token behind a cache of `offset` tokens."""
    rotate(check, rng.normal(2, 3, 1, 8), offset=offset)


def test_another_base(check, rng):
    """The tables that are handed in count, whatever they were made with."""
    rotate(check, rng.normal(2, 3, 5, 8), base=100.0, offset=2)


def test_split_heads(check, rng):
    """Heads that were split off (B, S, H, d_head) are a view, not a copy."""
    rotate(check, rng.normal(2, 5, 3, 8).transpose(1, 2))


@pytest.mark.derive("dtype", "device", "contract")
def test_any_angles(check, rng):
    """Tables with an angle of its own for each position and pair, in the dtype of the queries."""
    angles = rng.uniform(5, 4, low=-math.pi, high=math.pi)
    check["apply_rotary"](rng.normal(2, 3, 5, 8), angles.cos(), angles.sin())


@pytest.mark.derive("dtype")
def test_range_of_double_precision(check, rng):
    """Numbers of 1e60: float64 holds them, float32 does not."""
    scale = 1e60 if check.dtype == torch.float64 else 1.0
    rotate(check, rng.normal(2, 3, 4, 6, scale=scale))


@pytest.mark.derive("device")
def test_norms_are_kept(check, rng):
    """A rotation changes the direction of each pair, not its length."""
    x = rng.normal(2, 3, 6, 8)
    turned = rotate(check, x, offset=2).got.double()
    norms = turned.unflatten(-1, (4, 2)).norm(dim=-1)
    wanted = x.unflatten(-1, (4, 2)).norm(dim=-1)
    check.that((norms - wanted).abs().max() < 1e-4, "the rotation changes the length of a pair")


@pytest.mark.derive("device")
def test_scores_depend_on_the_distance_alone(check, rng):
    """Query and key are moved on by the same number of positions: the scores stay as they are."""
    q, k = rng.normal(1, 2, 5, 8), rng.normal(1, 2, 5, 8)

    def scores(offset):
        turned = [rotate(check, vectors, offset=offset).got.double() for vectors in (q, k)]
        return turned[0] @ turned[1].transpose(-2, -1)

    moved = (scores(0) - scores(13)).abs().max()
    check.that(moved < 1e-3, "the scores change when all tokens move on by the same number of positions")


@pytest.mark.contract
def test_tables_serve_queries_and_keys(check, rng):
    """The same tables turn queries and keys, and the queries a second time."""
    cos, sin = check["rotary_angles"](5, 8)
    q, k = rng.normal(2, 4, 5, 8), rng.normal(2, 2, 5, 8)
    first = check["apply_rotary"](q, cos, sin)
    check["apply_rotary"](k, cos, sin)
    check.same(check["apply_rotary"](q, cos, sin), first, "the same call gives another result the second time")


@pytest.mark.parametrize("base", [2.7, 0.5])
def test_fractional_base(check, base):
    """A base is any positive number, not a whole one only, and may lie below 1."""
    check["rotary_angles"](6, 6, base=base)


@pytest.mark.derive
def test_sizes_that_people_run(check, rng):
    """Twelve heads of 128 features, 130 tokens cut out of a longer text."""
    rotate(check, rng.normal(1, 12, 131, 128)[:, :, 1:])


@pytest.mark.parametrize("shape", [(2, 5, 5, 6), (5, 2, 5, 6)])
def test_as_many_tokens_as_heads_or_sequences(check, rng, shape):
    """The rows of the tables are positions, also where the number of heads or sequences agrees."""
    rotate(check, rng.normal(*shape), offset=2)


@pytest.mark.grad
def test_gradients_of_the_tables(check, rng):
    """Tables may have been learned: they get their gradients, too, in all their digits."""
    angles = rng.uniform(5, 4, low=-math.pi, high=math.pi)
    check["apply_rotary"](rng.normal(2, 3, 5, 8), angles.cos(), angles.sin())
    with of_everything(check):
        for heads, tokens in ((1, 1), (3, 1), (1, 4)):
            check["apply_rotary"](rng.normal(2, heads, tokens, 8), angles[:tokens].cos(), angles[:tokens].sin())


@pytest.mark.grad
def test_tables_in_inference_mode_first(check, rng):
    """The same tables, asked for in inference mode and then where somebody trains: gradients go through them."""
    x = rng.normal(2, 3, 5, 8)
    with of_dtype(check, torch.float32):  # that of the tables: what is cast is another tensor
        with first_in_inference_mode(check):
            check["rotary_angles"].run(5, 8, base=321.5, offset=3)
        cos, sin = check["rotary_angles"].run(5, 8, base=321.5, offset=3)
        check["apply_rotary"].run(x, cos, sin)
    rotate(check, x, base=321.5, offset=3)


@pytest.mark.precise
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    angles = rng.uniform(4, 2, low=-math.pi, high=math.pi)
    cos, sin = angles.cos(), angles.sin()
    for x in (rng.normal(2, 3, 4, 4), rng.normal(9, 1, 4, 4), rng.normal(4, 1, 4, 2, 2).flatten(3)):
        check["apply_rotary"](x, cos, sin)
        check["apply_rotary"](x, cos.T.contiguous().T, sin.T.contiguous().T)
        check["apply_rotary"](x, cos, cos)
    angles = rng.uniform(2, 256, low=-math.pi, high=math.pi)
    check["apply_rotary"](rng.normal(1, 1, 2, 512), angles.cos(), angles.sin())
    angles = rng.uniform(1, 4, low=-math.pi, high=math.pi)
    check["apply_rotary"](rng.normal(1, 10, 1, 8), angles.cos(), angles.sin())
    angles = rng.uniform(1, 2, low=-math.pi, high=math.pi)
    check["apply_rotary"](rng.normal(2, 1, 1, 4), angles.cos(), angles.sin())
    check["rotary_angles"](3, 8, base=500)
    check["rotary_angles"](1, 2, offset=5000)


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    angles = rng.uniform(4, 2, low=-scale, high=scale)
    check["apply_rotary"](rng.normal(2, 3, 4, 4), angles, angles)
