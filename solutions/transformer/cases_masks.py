"""Hidden cases of transformer: padding, the future and masks of the memory."""

import pytest
import torch
from cases import PAD, TARGET, build, padded, sources, targets, without_dtype

from grader.kit.defaults import slices_of_wider_ones


@pytest.mark.mask
def test_padding_of_the_source(check, rng):
    """Sources of different lengths: neither encoder nor decoder reads the padding."""
    model = build(check, rng)
    model(padded(rng, [5, 2, 4]), targets(rng, 3, 4))


@pytest.mark.mask
@without_dtype
def test_another_padding_token(check, rng):
    """pad_id is the ninth setting, and 0 is a token like any other then; padding may stand anywhere."""
    model = build(check, rng, 16, 2, 8, 2, 0.0, 50, 4)
    src = torch.tensor([[4, 0, 7, 4, 1], [0, 4, 4, 2, 10], [3, 5, 0, 0, 9]])
    model(src, rng.integers(5, TARGET, 3, 4))


@pytest.mark.mask
@without_dtype
def test_sizes_that_agree_under_a_mask(check, rng):
    """B == H == m, where a mask without a head axis would be read as one per head."""
    model = build(check, rng, d_model=12, n_heads=3)
    src = torch.tensor([[3, 0, 0], [5, 2, 0], [1, 7, 4]])
    model(src, targets(rng, 3, 3))


@pytest.mark.mask
def test_an_empty_source(check, rng):
    """A source of nothing but padding: the model still writes, without a NaN in result or gradient."""
    model = build(check, rng)
    model(padded(rng, [4, 0, 5]), targets(rng, 3, 4))


@pytest.mark.mask
@pytest.mark.derive
def test_mask_of_the_memory(check, rng):
    """encode returns the mask that decode takes: (B, 1, m), True = a real token."""
    model = build(check, rng)
    src = padded(rng, [5, 3, 0])
    _, memory_mask = model.do("encode", src)
    check.that(
        memory_mask.got.dtype == torch.bool and torch.equal(memory_mask.got, (src != PAD)[:, None]),
        "the mask that encode returns is not (src != pad_id) as a bool tensor (B, 1, m)",
    )


@pytest.mark.mask
def test_memory_mask(check, rng):
    """The decoder reads what the mask lets it read."""
    model = build(check, rng)
    model.method("decode", targets(rng, 3, 4), rng.normal(3, 5, 32), memory_mask=rng.keep(3, 1, 5))


@pytest.mark.mask
@pytest.mark.derive("dtype", "device", "contract")
@pytest.mark.parametrize("length", [1, 4])
def test_memory_mask_behind_a_cache(check, rng, length):
    """Tokens behind a cache read no more of the memory than those before them."""
    model = build(check, rng)
    cache = [(rng.normal(3, 4, 2, 8), rng.normal(3, 4, 2, 8))]
    model.method("decode", targets(rng, 3, length), rng.normal(3, 5, 32), rng.keep(3, 1, 5), cache)
    with slices_of_wider_ones(check):
        model.method("decode", targets(rng, 3, length), rng.normal(3, 5, 32), rng.keep(3, 1, 5), cache)
    heads_first = [tuple(rng.normal(4, 3, 2, 8).transpose(0, 1) for _ in range(2))]
    model.method("decode", targets(rng, 3, length), rng.normal(3, 5, 32), rng.keep(3, 1, 5), heads_first)


@pytest.mark.mask
@pytest.mark.derive
def test_padding_leaves_no_trace(check, rng):
    """A source alone and the same source beside a longer one: the same logits."""
    model = build(check, rng, d_model=16, n_layers=2)
    src, tgt = padded(rng, [6, 3]), targets(rng, 2, 4)
    together, alone = model(src, tgt), model(src[1:, :3], tgt[1:])
    check.close(together.got[1:], alone.got, "padding of the source changes the logits")
    behind = torch.cat([tgt[:, :3], torch.full((2, 2), PAD)], dim=1)
    check.close(model.run(src, behind).got[:, :3], together.got[:, :3], "padding behind the target changes the logits")


@pytest.mark.mask
@pytest.mark.derive
def test_later_tokens_leave_no_trace(check, rng):
    """Later target tokens are replaced: not one bit of the earlier logits may change, in either mode."""
    model = build(check, rng, d_model=16, n_layers=2)
    src, tgt = sources(rng, 2, 4), targets(rng, 2, 6)
    other = torch.cat([tgt[:, :3], (tgt[:, 3:] + 5) % TARGET], dim=1)
    for mode in (model.eval, model.train):
        before, after = mode()(src, tgt).got, mode().run(src, other).got
        check.same(after[:, :3], before[:, :3], "logits depend on a later target token")


@pytest.mark.mask
@pytest.mark.derive("device")
@pytest.mark.parametrize("height", [2.0**13, -(2.0**17), -(2.0**115)])
def test_scores_far_from_zero(check, rng, height):
    """All scores are equal and far from zero: weights stay finite; padding and the future must not win."""
    model = build(check, rng, d_model=8, n_heads=2)
    nothing, one = torch.zeros(8, 8, dtype=torch.float64), torch.ones(8, dtype=torch.float64)
    for name in ("encoder__layers__0__attention", "decoder__layers__0__self_attn", "decoder__layers__0__cross_attn"):
        model.set(**{f"{name}__W_q__weight": nothing, f"{name}__W_q__bias": one})
        model.set(**{f"{name}__W_k__weight": nothing, f"{name}__W_k__bias": height * one})
    for length, n in ((5, 4), (20, 20), (70, 80)):
        model(padded(rng, [length, 2, 0]), targets(rng, 3, n))


@pytest.mark.mask
@pytest.mark.derive("dtype")
def test_scores_below_minus_ten_thousand(check, rng):
    """All scores are -16384, which float16 has: -10,000 would be more, for the future as for padding."""
    model = build(check, rng, n_heads=8)
    first, nothing = torch.zeros(32, dtype=torch.float64), torch.zeros(32, 32, dtype=torch.float64)
    first[::4] = 1.0  # of each head
    for name in ("encoder__layers__0__attention", "decoder__layers__0__self_attn", "decoder__layers__0__cross_attn"):
        model.set(**{f"{name}__W_q__weight": nothing, f"{name}__W_q__bias": first})
        model.set(**{f"{name}__W_k__weight": nothing, f"{name}__W_k__bias": -(2.0**15) * first})
    model(padded(rng, [5, 2]), targets(rng, 2, 4))


@pytest.mark.mask
@without_dtype
def test_memory_of_one_position(check, rng):
    """A memory of one position, which one sequence may see and the other may not."""
    model = build(check, rng, d_model=8, n_heads=2)
    model.method("decode", targets(rng, 2, 3), rng.normal(2, 1, 8), torch.tensor([[[True]], [[False]]]))


@pytest.mark.mask
@pytest.mark.precise
@pytest.mark.derive("grad")
def test_sizes_under_a_mask(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: what is hidden stays hidden."""
    wide = build(check, rng, 72, 12, 80, 4, vocabularies=(TARGET, TARGET))
    wide.method("decode", targets(rng, 9, 3), rng.normal(9, 4, 72), rng.keep(9, 1, 4))
    one = build(check, rng, 4, 1, 1, 1, max_len=1)
    one.method("decode", targets(rng, 4, 1), rng.normal(4, 4, 4), rng.keep(4, 1, 4))
    one.method("decode", targets(rng, 3, 1), rng.normal(3, 5, 4), rng.keep(3, 1, 5))
    model = build(check, rng, 4, 2, 4, 1, 0.5, 7, 3)
    tokens, memory, mask = targets(rng, 4, 4), rng.normal(4, 4, 4), torch.tensor([[[True, False, True, True]]])
    tokens = tokens.masked_fill(tokens == 3, 1)  # padding here: nothing is asked of it among targets
    model.method("decode", tokens, memory, mask.expand(4, 1, 4))
    loud = [tuple(3e4 * rng.normal(4, 2, 3, 2) for _ in range(2))]
    model.method("decode", tokens, memory, mask.expand(4, 1, 4), loud)
    other = torch.where(mask[0, 0, :, None], memory, 100.0 * memory)
    model.train()
    before, after = (model.do("decode", tokens, m, mask.expand(4, 1, 4))[0] for m in (memory, other))
    check.same(before, after, "an output depends on hidden memory in training")
    model.eval().method("decode", tokens, memory, mask.expand(4, 1, 4))
