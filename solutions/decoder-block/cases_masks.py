"""Hidden cases of decoder-block: the future and masks of the memory."""

import pytest
import torch
from cases import feed, without_both, without_dtype, without_grad

from grader.kit.attention import rows_of_all_kinds


@pytest.mark.mask
@pytest.mark.derive
@pytest.mark.parametrize("past", [0, 3])
def test_later_tokens_leave_no_trace(check, rng, past):
    """Later tokens are replaced: not one bit of the earlier outputs may change, with and without a cache."""
    block = check.module(6, 2, 8)
    x, memory, cache = rng.normal(2, 6, 6), rng.normal(2, 4, 6), (rng.normal(2, 2, past, 3), rng.normal(2, 2, past, 3))
    other = torch.cat([x[:, :3], rng.normal(2, 3, 6, scale=100.0)], dim=1)
    for mode in (block.eval, block.train):
        before = mode()(x, memory, cache if past else None)[0].got
        after = mode().run(other, memory, cache if past else None)[0].got
        check.same(after[:, :3], before[:, :3], "an output depends on a later token")


@pytest.mark.mask
def test_memory_mask_per_sequence(check, rng):
    """Three axes (B, n, m): the first is the batch."""
    block = check.module(d_model=32, n_heads=2, d_ff=8)
    block(rng.normal(3, 4, 32), rng.normal(3, 5, 32), memory_mask=rng.keep(3, 4, 5))


SHAPES = [(3, 5), (3, 1, 5), (1, 3, 5), (3, 3, 5), (3, 1, 1, 5), (3, 1, 3, 5), (3, 3, 3, 5), (1, 3, 3, 5), (3, 3, 1, 5)]


@pytest.mark.mask
@without_dtype
@pytest.mark.parametrize("shape", SHAPES)
def test_memory_mask_of_any_shape(check, rng, shape):
    """Two axes are (n, m), three are per sequence, four are (B, H, n, m); here B == H == n, which hides a mix-up."""
    block = check.module(d_model=9, n_heads=3, d_ff=8)
    block(rng.normal(3, 3, 9), rng.normal(3, 5, 9), memory_mask=rng.keep(*shape))
    single = shape if len(shape) == 2 else (1, *shape[1:])
    block(rng.normal(1, 3, 9), rng.normal(1, 5, 9), memory_mask=rng.keep(*single))


@pytest.mark.mask
@without_dtype
def test_memory_mask_as_large_as_a_causal_one(check, rng):
    """N == m: the memory mask is for the memory alone; arguments by position."""
    block = check.module(6, 2, 8)
    block(rng.normal(2, 4, 6), rng.normal(2, 4, 6), None, rng.keep(2, 4, 4))


@pytest.mark.mask
@pytest.mark.derive
def test_square_memory_masks(check, rng):
    """N == m with two axes and with four: rows are the new tokens, columns the memory."""
    block = check.module(6, 2, 8)
    for shape in ((4, 4), (2, 2, 4, 4)):
        block(rng.normal(2, 4, 6), rng.normal(2, 4, 6), memory_mask=rng.keep(*shape))


@pytest.mark.mask
@pytest.mark.parametrize("shape", [(3, 4, 5), (3, 1, 5), (3, 2, 1, 5)])
def test_tokens_that_see_no_memory(check, rng, shape):
    """Where no memory is visible the context is 0, and the bias of the cross-attention's W_o is still added."""
    block = check.module(d_model=32, n_heads=2, d_ff=8)
    mask = rng.keep(*shape)
    mask[0, -1] = False  # a token, a sequence, a head
    mask[2, 0] = False
    block(rng.normal(3, 4, 32), rng.normal(3, 5, 32), memory_mask=mask)


@pytest.mark.mask
@without_grad
@pytest.mark.parametrize("shape", [(2, 1, 5), (2, 1, 1, 5)])
def test_padding_of_the_memory_while_decoding(check, rng, shape):
    """The same mask of the memory at every step, whatever the number of new tokens."""
    block = check.module(d_model=32, n_heads=2, d_ff=8)
    feed(block, rng.normal(2, 5, 32), rng.normal(2, 5, 32), [3, 1, 1], rng.keep(*shape))


@pytest.mark.mask
@without_both
def test_memory_mask_of_a_chunk(check, rng):
    """The rows of a mask (B, n, m) belong to the new tokens, not to those in the cache."""
    block = check.module(d_model=6, n_heads=2, d_ff=8)
    memory = rng.normal(2, 4, 6)
    _, cache = block(rng.normal(2, 3, 6), memory, memory_mask=rng.keep(2, 3, 4))
    block(rng.normal(2, 2, 6), memory, cache, rng.keep(2, 2, 4))


@pytest.mark.mask
@pytest.mark.derive
def test_hidden_memory_leaves_no_trace(check, rng):
    """Hidden memory is replaced by huge numbers: not one bit of the output may change."""
    block = check.module(6, 2, 8)
    mask = rng.keep(2, 1, 6)
    x, memory = rng.normal(2, 3, 6), rng.normal(2, 6, 6)
    poisoned = torch.where(mask.transpose(1, 2), memory, rng.normal(2, 6, 6, scale=1e4))
    before = block(x, memory, memory_mask=mask)[0].got
    after = block.run(x, poisoned, memory_mask=mask)[0].got
    check.same(after, before, "a hidden position of the memory changes the output")


@pytest.mark.mask
@pytest.mark.derive("device")
@pytest.mark.parametrize("height", [2.0**13, -(2.0**17), -(2.0**115)])
def test_scores_far_from_zero(check, rng, height):
    """All scores are equal and far from zero: weights stay finite, hidden memory and the future must not win."""
    block = check.module(d_model=8, n_heads=2, d_ff=8)
    nothing, one = torch.zeros(8, 8, dtype=torch.float64), torch.ones(8, dtype=torch.float64)
    for attention in ("self_attn", "cross_attn"):
        block.set(**{f"{attention}__W_q__weight": nothing, f"{attention}__W_q__bias": one})
        block.set(**{f"{attention}__W_k__weight": nothing, f"{attention}__W_k__bias": height * one})
    for length, m in ((4, 5), (20, 20), (70, 80)):
        feed(block, rng.normal(2, length, 8), rng.normal(2, m, 8), [length - 1, 1], rng.keep(2, 1, m))
        block(rng.normal(2, length, 8), rng.normal(2, m, 8), memory_mask=rows_of_all_kinds(rng, length, m))
    block(rng.normal(2, 4, 8), rng.normal(2, 600, 8), memory_mask=rng.keep(2, 1, 600))


@pytest.mark.mask
@pytest.mark.derive("dtype")
def test_scores_below_minus_ten_thousand(check, rng):
    """All scores are -16384, which float16 has: -10,000 would be more, for the future as for hidden memory."""
    block = check.module(d_model=32, n_heads=8, d_ff=24)
    first, nothing = torch.zeros(32, dtype=torch.float64), torch.zeros(32, 32, dtype=torch.float64)
    first[::4] = 1.0  # of each head
    for attention in ("self_attn", "cross_attn"):
        block.set(**{f"{attention}__W_q__weight": nothing, f"{attention}__W_q__bias": first})
        block.set(**{f"{attention}__W_k__weight": nothing, f"{attention}__W_k__bias": -(2.0**15) * first})
    block(rng.normal(2, 4, 32), rng.normal(2, 5, 32), memory_mask=rng.keep(2, 1, 5))


@pytest.mark.mask
@without_dtype
def test_memory_of_one_position(check, rng):
    """A single position of memory, which some sequences may not read."""
    block = check.module(6, 2, 8)
    mask = torch.tensor([True, False, True])[:, None, None]
    block(rng.normal(3, 4, 6), rng.normal(3, 1, 6), memory_mask=mask)


@pytest.mark.mask
@without_dtype
def test_as_many_sequences_as_tokens(check, rng):
    """B == n and another number of heads: a mask (B, 1, m) is still per sequence."""
    block = check.module(6, 2, 8)
    block(rng.normal(3, 3, 6), rng.normal(3, 5, 6), memory_mask=rng.keep(3, 1, 5))


@pytest.mark.mask
@pytest.mark.precise
@pytest.mark.derive("grad")
def test_sizes_under_a_mask(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: what is hidden stays hidden."""
    for sizes in ((4, 1, 1), (4, 2, 70), (4, 4, 5)):
        block = check.module(*sizes)
        block(rng.normal(4, 4, 4), rng.normal(4, 4, 4), memory_mask=rng.keep(4, 4, 4))
    block = check.module(4, 2, 6, 0.5)
    block(rng.normal(1, 300, 4), rng.normal(1, 300, 4), memory_mask=rng.keep(300, 300))
    x, memory, mask = rng.normal(9, 3, 4), rng.normal(9, 5, 4), torch.tensor([True, True, True, False, True])
    other = torch.where(mask[:, None], memory, 100.0 * memory)
    block(x, memory, memory_mask=mask.expand(3, 5))
    block.train()
    before, after = (block.run(x, m, None, mask.expand(3, 5))[0] for m in (memory, other))
    check.same(before, after, "an output depends on hidden memory in training")
