"""Hidden cases of int8-cache."""

import pytest
import torch

from grader.kit.attention import FAR, KEYS

# What is read off a float to a whole number may turn over where the float is rounded: numbers that a half holds exactly
# go through all variants, any others through those that keep their digits.
any_numbers = pytest.mark.derive("device", "contract")


def quantise(check, *args, **kwargs):
    """Call it, compared."""
    return check["quantise"](*args, **kwargs)


def attend(check, *args, **kwargs):
    """Call the attention, compared."""
    return check["int8_attention"](*args, **kwargs)


def with_steps(steps, codes, axis):
    """Numbers that are so many of these steps, which each row along the axis shows: its first code becomes 127."""
    codes = codes.clone()
    codes.select(axis, 0).copy_(torch.where(codes.select(axis, 0) < 0, -127.0, 127.0))
    return steps * codes


def exact(rng, shape, axis):
    """Draw numbers of which even bfloat16 holds every digit, a quarter off whole steps that are powers of two."""
    sizes = [1 if place == axis % len(shape) else size for place, size in enumerate(shape)]
    steps = 2.0 ** rng.integers(-4, 4, *sizes).double()
    return with_steps(steps, rng.integers(-31, 32, *shape).double() + 0.25 * rng.integers(-1, 2, *shape).double(), axis)


def anyhow(rng, shape, axis, scale=1.0):
    """Draw numbers anywhere between the steps but near the middle of two."""
    sizes = [1 if place == axis % len(shape) else size for place, size in enumerate(shape)]
    steps = rng.uniform(*sizes, low=0.01, high=0.5) * scale
    return with_steps(steps, rng.integers(-126, 127, *shape).double() + rng.uniform(*shape, low=-0.4, high=0.4), axis)


def cached(rng, batch, heads, length, width):
    """Draw codes and steps of a cache; the steps of two tokens may differ by a factor of ten."""
    codes = rng.integers(-127, 128, batch, heads, length, width).to(torch.int8)
    return codes, 0.002 * 10.0 ** rng.uniform(batch, heads, length, 1)


def tensors(rng, n, m, d_k=4, d_v=3, batch=2, heads=3):
    """Draw queries and a cache of keys and values."""
    query = rng.normal(batch, heads, n, d_k)
    return query, cached(rng, batch, heads, m, d_k), cached(rng, batch, heads, m, d_v)


@pytest.mark.derive("device", "contract")
def test_by_hand(check):
    """The example of the brief: two keys there and back, and a query."""
    x, identity = (
        torch.tensor([[one]], dtype=torch.float64) for one in ([[1.27, 0.5], [0.125, -2.54]], [[1, 0], [0, 1]])
    )
    keys = quantise(check, x, -1)
    check["dequantise"](keys[0], keys[1], check.dtype)
    attend(check, torch.ones(1, 1, 1, 2, dtype=torch.float64), keys, quantise(check, identity, -1))


def test_one_row(check, rng):
    """Five numbers, one step."""
    quantise(check, exact(rng, (5,), 0), 0)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_axis(check, rng, axis):
    """Each axis of three, and of two, counted from either end: steps stand where it is 1 long."""
    quantise(check, exact(rng, (3, 4, 5), axis), axis)
    if -2 <= axis < 2:
        quantise(check, exact(rng, (4, 5), axis), axis)


@any_numbers
@pytest.mark.parametrize("axis", [0, -1, -2, 3])
def test_numbers_between_the_steps(check, rng, axis):
    """Keys of a cache (B, H, m, d): to the nearest whole number, up or down, of either sign."""
    quantise(check, anyhow(rng, (2, 3, 5, 4), axis), axis)


def test_arguments_by_name(check, rng):
    """The names of the arguments are part of the contract."""
    quantise(check, axis=-1, x=exact(rng, (3, 4), -1))
    codes, scale = cached(rng, 1, 2, 3, 4)
    check["dequantise"](dtype=check.dtype, scale=scale, q=codes)
    query, keys, values = tensors(rng, 2, 3)
    attend(check, values=values, keys=keys, query=query)


def test_all_sizes_equal(check, rng):
    """Four axes of the same length, where a wrong one does not show in the shape."""
    quantise(check, exact(rng, (3, 3, 3, 3), -1), -1)
    quantise(check, exact(rng, (3, 3, 3, 3), -2), -2)
    attend(check, *tensors(rng, 3, 3, d_k=3, d_v=3, batch=3))


def test_sizes_of_one(check, rng):
    """A single number is 127 steps, or -127; one sequence, one head, one token, one feature."""
    quantise(check, torch.tensor([[8.0], [-0.5]], dtype=torch.float64), -1)
    quantise(check, torch.tensor([[-4.0]], dtype=torch.float64), 0)
    attend(check, *tensors(rng, 1, 1, d_k=1, d_v=1, batch=1, heads=1))


def test_largest_number_is_negative(check, rng):
    """The largest magnitude belongs to a negative number, the others are small."""
    codes = rng.integers(-31, 32, 4, 6).double() + 0.25
    codes[:, 0] = -1.0
    steps = 2.0 ** torch.arange(4.0, dtype=torch.float64)[:, None]
    quantise(check, with_steps(steps, codes, -1).roll(2, -1), -1)


def test_rows_of_other_sizes(check, rng):
    """One row is a thousand times larger than the next: each has its own step."""
    x = exact(rng, (2, 6), -1)
    quantise(check, x * torch.tensor([[16.0], [0.015625]], dtype=torch.float64), -1)


@any_numbers
@pytest.mark.parametrize("exponent", [-70, 70])
def test_tiny_and_huge_numbers(check, rng, exponent):
    """The rule does not depend on how large numbers are: they are multiplied by a power of two."""
    quantise(check, anyhow(rng, (2, 3, 4), -1, 2.0**exponent), -1)


@pytest.mark.derive("dtype")
@pytest.mark.parametrize("exponent", [-13, 5])
def test_tiny_and_huge_numbers_in_half_precision(check, rng, exponent):
    """Numbers near the ends of float16: a reciprocal of their step, or 127 of them, are beyond it."""
    steps = 2.0 ** torch.tensor([[-4.0], [0.0], [3.0]], dtype=torch.float64)
    codes = rng.integers(-31, 32, 3, 5).double() + 0.25 * rng.integers(-1, 2, 3, 5).double()
    quantise(check, with_steps(2.0**exponent * steps, codes, -1), -1)


@pytest.mark.derive("device", "contract")
def test_zeros(check, rng):
    """A row of zeros among others: its codes are 0, and what they stand for is 0, too."""
    x = rng.normal(3, 4)
    x[1] = 0.0
    q, scale = check["quantise"].run(x, -1)
    check.that((q.got[1] == 0).all(), "a row of zeros has codes that are not 0")
    check.that(torch.isfinite(scale.got).all(), "a row of zeros has a step that is not finite")
    back = check["dequantise"].run(q, scale, check.dtype).got
    check.that((back[1] == 0).all(), "a row of zeros does not come back as zeros")


@pytest.mark.derive
@pytest.mark.parametrize("axis", [-1, -2])
def test_half_a_step_at_most(check, rng, axis):
    """There and back, no number is off by more than half its step."""
    x = rng.normal(2, 3, 7, 16)
    q, scale = check["quantise"].run(x, axis)
    back = check["dequantise"].run(q, scale, check.dtype).got
    error = (back - x.to(back.dtype)).abs()
    check.that((error <= 0.5001 * scale.got).all(), "a number comes back more than half a step off")
    check.that((q.got.abs().amax(axis) == 127).all(), "the largest magnitude of a row is not 127 steps")


@pytest.mark.parametrize("axis", [-1, -2, 0])
def test_dequantise(check, rng, axis):
    """Codes times their step, wherever the axis is that shares it; all codes from -127 to 127."""
    sizes = [3, 4, 5]
    sizes[axis] = 1
    codes = rng.integers(-127, 128, 3, 4, 5).to(torch.int8)
    check["dequantise"](codes, rng.uniform(*sizes, low=0.01, high=2.0), check.dtype)
    check["dequantise"](torch.tensor([-127, 127, 0, 1], dtype=torch.int8), rng.uniform(1, low=0.5), check.dtype)


def test_there_and_back(check, rng):
    """What quantise returns is what dequantise takes."""
    q, scale = quantise(check, exact(rng, (2, 3, 4), -1), -1)
    check["dequantise"](q, scale, check.dtype)


@pytest.mark.parametrize("scale", [0.01, 1100.0])
def test_digits_of_another_dtype(check, rng, scale):
    """Steps in the dtype of the variant, numbers in float32 or bfloat16: they have its digits and its range."""
    codes = rng.integers(-127, 128, 3, 4).to(torch.int8)
    codes[:, 0] = 127
    steps = scale * rng.uniform(3, 1, low=0.5)
    check["dequantise"](codes, steps, torch.float32)
    check["dequantise"](codes, steps, torch.bfloat16)


@pytest.mark.derive("dtype")
def test_double_precision_of_shorter_steps(check, rng):
    """Steps of any dtype, numbers in float64: a product has all its digits."""
    codes, steps = rng.integers(-127, 128, 3, 4).to(torch.int8), rng.uniform(3, 1, low=0.5).to(check.dtype)
    back = check["dequantise"].run(codes, steps, torch.float64).got
    check.that((back == codes.double() * steps.double()).all(), "a number of float64 has lost digits")


def test_numbers_in_half_precision(check, rng):
    """The dtype that is asked for is the one that comes back, not that of the steps."""
    codes, scale = cached(rng, 1, 2, 3, 4)
    check["dequantise"](codes, scale, torch.bfloat16)
    check["dequantise"](codes, scale, torch.float16)


def test_one_query(check, rng):
    """A decoding step: one query, five tokens in the cache."""
    attend(check, *tensors(rng, 1, 5))


@pytest.mark.parametrize("sizes", [(2, 5), (5, 2), (4, 4), (3, 1)])
def test_several_queries(check, rng, sizes):
    """n and m: every query sees every key."""
    attend(check, *tensors(rng, *sizes))


@pytest.mark.parametrize("widths", [(9, 2), (2, 9), (16, 16)])
def test_widths(check, rng, widths):
    """d_k and d_v: the spread of the scores must not depend on them."""
    attend(check, *tensors(rng, 3, 4, *widths))


def test_cache_from_quantise(check, rng):
    """Keys and values that were quantised just before."""
    keys, values = quantise(check, exact(rng, (2, 3, 5, 4), -1), -1), quantise(check, exact(rng, (2, 3, 5, 6), -1), -1)
    attend(check, 0.125 * rng.normal(2, 3, 2, 4), keys, values)


@pytest.mark.parametrize("which", ["keys", "values"])
def test_steps_of_tokens_differ(check, rng, which):
    """The steps of keys or values span a factor of a hundred, the others are all the same."""
    query, keys, values = tensors(rng, 3, 6)
    wide = 10.0 ** torch.linspace(-3.0, -1.0, 6, dtype=torch.float64)[rng.permutation(6)][:, None]
    even = torch.full((2, 3, 6, 1), 0.01, dtype=torch.float64)
    wide = wide.expand(2, 3, 6, 1).clone()
    steps = (wide, even) if which == "keys" else (even, wide)
    attend(check, 0.5 * query, (keys[0], steps[0]), (values[0], steps[1]))


@pytest.mark.derive("dtype")
def test_small_steps_of_many_values(check, rng):
    """Forty keys share the weight, and the steps of the values are tiny: their products are, the output is not."""
    query, keys, values = tensors(rng, 2, 40)
    values = (rng.integers(64, 128, 2, 3, 40, 3).to(torch.int8), torch.full_like(values[1], 2.0**-20))
    attend(check, 0.1 * query, keys, values)


def test_padding_of_zeros(check, rng):
    """A token that is all zeros, with a step of 0, is a key like any other: its score is 0."""
    query, keys, values = tensors(rng, 2, 4)
    for codes, scale in (keys, values):
        codes[:, :, 1], scale[:, :, 1] = 0, 0.0
    attend(check, query, keys, values)


def test_products_beyond_half_precision(check, rng):
    """Queries of 40 and codes of 127: their products are beyond 65504, the scores are not."""
    query, keys, values = tensors(rng, 2, 4, d_k=64)
    query[..., :], keys[0][..., :] = 40.0, 127
    keys[0][:, :, :, 32:] = 126
    attend(check, query, keys, values)


@pytest.mark.derive("device", "contract")
def test_sharp_scores(check, rng):
    """Scores beyond a hundred: exp alone would overflow."""
    query, keys, values = tensors(rng, 3, 5)
    attend(check, 80.0 * query, keys, values)


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_scores_beyond_ten_thousand(check, rng):
    """Queries of 100,000 make scores as large, of either sign: only those near the best count."""
    query, keys, values = tensors(rng, 3, 5)
    attend(check, 1e5 * query, keys, values)


@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize("keys", KEYS)
def test_many_scores_far_from_zero(check, rng, keys):
    """Rows of 20 to 600 scores far above and far below zero: the best gets the weight, however low it is."""
    query, (codes, steps), values = tensors(rng, 2, keys)
    query[..., 0], query[..., 1:], codes[..., 0] = 1.0, 0.0, 64
    steps[:] = 0.03125 * (1 + rng.permutation(keys).double())[:, None]
    for height in FAR:
        attend(check, height * query, (codes, steps), values)


@pytest.mark.precise
@pytest.mark.derive
def test_digits_of_double_precision(check, rng):
    """In float64 nothing goes through float32: codes, steps and numbers have their digits and their range."""
    for scale in (3.0, 2.0**-150, 2.0**150):
        quantise(check, anyhow(rng, (2, 3, 5, 4), -1, scale), -1)
    codes, scale = cached(rng, 2, 3, 5, 4)
    check["dequantise"](codes, scale, torch.float64)


@pytest.mark.derive("dtype")
def test_scores_with_a_common_level(check, rng):
    """What all scores of a row have in common does not count, and float64 can tell them apart at any level."""
    query, keys, values = tensors(rng, 3, 5)
    keys[0][..., 0], keys[1][:] = 64, 0.03125
    query[..., 0] = 1000.0 if check.dtype == torch.float64 else 1.0
    attend(check, query, keys, values)


def test_transposed_inputs(check, rng):
    """Heads that were split off by a transpose are views, not copies."""
    quantise(check, exact(rng, (2, 5, 3, 4), -1).transpose(1, 2), -1)
    query, keys, values = tensors(rng, 5, 5, batch=2, heads=3)
    turned = [tuple(part.transpose(1, 2) for part in one) for one in (keys, values)]
    attend(check, query.transpose(1, 2), *turned)


def test_one_cache_for_both(check, rng):
    """Keys and values may be the same tensors."""
    query, keys, _ = tensors(rng, 2, 4)
    attend(check, query, keys, keys)


BATCH, HEADS, LENGTH, WIDTH = 2, 2, 96, 128
NUMBERS = 2 * BATCH * HEADS * LENGTH * WIDTH


@pytest.mark.cost
@pytest.mark.parametrize("sizes", [(1, LENGTH), (2, LENGTH), (1, 7)])
def test_cost_of_a_step(check, rng, sizes):
    """Queries over the tokens of a cache: its numbers are widened once, and steps are no matter of single numbers."""
    cost = check["int8_attention"].run(*tensors(rng, *sizes, WIDTH, WIDTH, batch=BATCH, heads=HEADS)).cost
    numbers = 2 * BATCH * HEADS * sizes[1] * WIDTH
    check.at_most(cost.elems, 1.4 * numbers, "numbers of the cache go through more than one elementwise operation")


@pytest.mark.cost
def test_cost_of_the_products(check, rng):
    """The products are those of attention: no more multiply-adds than scores and average take."""
    cost = check["int8_attention"].run(*tensors(rng, 2, LENGTH, WIDTH, WIDTH, batch=BATCH, heads=HEADS)).cost
    check.at_most(cost.madds, 2.5 * NUMBERS, "more is multiplied than scores and average take")


def test_sizes_that_people_run(check, rng):
    """Six hundred tokens of a longer cache, and twelve heads."""
    query, keys, values = tensors(rng, 2, 601, 8, 8, batch=1, heads=1)
    rest = [tuple(part[:, :, 1:] for part in one) for one in (keys, values)]
    attend(check, query, *rest)
    attend(check, *tensors(rng, 2, 5, batch=1, heads=12))
    attend(check, *tensors(rng, 300, 3, 70, 70, batch=9, heads=1))


@pytest.mark.derive("device", "contract")
def test_a_late_key_that_stands_out(check, rng):
    """Of two hundred keys a late one, then an early one, scores hundreds more than all others together."""
    for place in (180, 3):
        query, keys, values = tensors(rng, 2, 200, batch=1, heads=2)
        query[:] = 5.0
        keys[0][:, :, place], keys[1][:, :, place] = 127, 1.0
        attend(check, query, keys, values)


@pytest.mark.precise
@pytest.mark.derive
def test_other_sizes(check, rng):
    """Wide, long, many, large: no rule changes."""
    quantise(check, anyhow(rng, (9, 10, 300, 70), -1, 1e4), -1)
    codes = rng.integers(-127, 128, 9, 10, 300, 70).to(torch.int8)
    check["dequantise"](codes, rng.uniform(9, 10, 300, 1, low=0.5) * 4e4, torch.float64)


@pytest.mark.precise
@pytest.mark.derive
@pytest.mark.parametrize(
    "sizes",
    [
        *(((2, 3, 4, 1), -1), ((2, 3, 1, 4), -1), ((2, 3, 3, 70), -2), ((4, 3, 5, 4), -1), ((4, 3, 4, 5), -1)),
        *(((2, 3, 4, 4), -2), ((2, 4, 4, 5), -1), ((2, 3, 4, 4), 1)),
    ],
)
def test_sizes_that_agree_on_the_way_back(check, rng, sizes):
    """Lengths that are the same, or 1, on the way back: steps stand where the shape says, not where they would fit."""
    shape, axis = sizes
    steps = [1 if place == axis % len(shape) else size for place, size in enumerate(shape)]
    codes = rng.integers(-127, 128, *shape).to(torch.int8)
    check["dequantise"](codes, rng.uniform(*steps, low=0.01, high=2.0), torch.float64)
