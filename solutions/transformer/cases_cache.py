"""Hidden cases of transformer: tokens behind a cache."""

import pytest
import torch
from cases import SOURCE, TARGET, build, padded, targets, without_both

without_grad = pytest.mark.derive("dtype", "device", "contract")


def feed(model, memory, memory_mask, tgt, sizes):
    """Decode `tgt` in chunks of these sizes, each with the cache of the one before; the results of all calls."""
    results, cache, start = [], None, 0
    for size in sizes:
        result = model.method("decode", tgt[:, start : start + size], memory, memory_mask, cache)
        cache, start = result[1], start + size
        results.append(result)
    return results


@without_grad
def test_prompt_then_tokens(check, rng):
    """Some tokens at once, a single one, then two together."""
    model = build(check, rng)
    feed(model, rng.normal(3, 5, 32), None, targets(rng, 3, 6), [3, 1, 2])


@pytest.mark.derive("dtype")
@pytest.mark.parametrize("sizes", [[2, 3], [1, 4]])
def test_chunks_of_a_wide_model(check, rng, sizes):
    """Whoever asks for gradients and whatever the dtype of the cache is, a chunk goes on from it."""
    model = build(check, rng)
    feed(model, rng.normal(3, 5, 32), rng.keep(3, 1, 5), targets(rng, 3, 5), sizes)


@without_both
@pytest.mark.parametrize("sizes", [[1, 1], [1] * 5, [4, 3], [1, 5]])
def test_tokens_in_chunks(check, rng, sizes):
    """Each chunk continues the one before, at its own positions; no token of a chunk sees the chunk's future."""
    model = build(check, rng, d_model=9, n_heads=3, n_layers=2)
    feed(model, rng.normal(3, 4, 9), rng.keep(3, 1, 4), targets(rng, 3, sum(sizes)), sizes)


@pytest.mark.derive
@pytest.mark.parametrize("sizes", [[6], [1] * 6, [2, 4], [4, 1, 1]])
def test_teacher_forcing_equals_step_by_step_decoding(check, rng, sizes):
    """However the target is cut into chunks, the logits are those of one forward pass."""
    model = build(check, rng, d_model=16, n_layers=2)
    src, tgt = padded(rng, [5, 3]), targets(rng, 2, 6)
    full = model(src, tgt).got
    memory, memory_mask = model.do("encode", src)
    steps = feed_uncompared(model, memory, memory_mask, tgt, sizes)
    check.that(
        steps.shape == full.shape, f"decoding in chunks of {sizes} gives logits of the shape {tuple(steps.shape)}"
    )
    check.close(steps, full, f"decoding in chunks of {sizes} gives other logits than teacher forcing")


def feed_uncompared(model, memory, memory_mask, tgt, sizes):
    """Decode in chunks from what the answer's own encoder returned; the logits of all calls."""
    logits, cache, start = [], None, 0
    for size in sizes:
        result = model.do("decode", tgt[:, start : start + size], memory, memory_mask, cache)
        logits.append(result[0].got)
        cache, start = result[1], start + size
    return torch.cat(logits, dim=1)


@without_both
def test_any_pairs_are_a_cache(check, rng):
    """Keys and values that no call of this model has made; new tokens stand behind them."""
    model = build(check, rng, d_model=8, n_heads=2, n_layers=2)
    cache = [(rng.normal(3, 2, 4, 4), rng.normal(3, 2, 4, 4)) for _ in range(2)]
    model.method("decode", targets(rng, 3, 2), rng.normal(3, 5, 8), cache=cache)
    model.method("decode", targets(rng, 3, 1), rng.normal(3, 5, 8), rng.keep(3, 1, 5), cache)


@without_both
def test_two_continuations_of_one_prefix(check, rng):
    """Two beams grow from the same prefix, turn by turn; neither disturbs the other."""
    model = build(check, rng, d_model=8, n_heads=2, n_layers=2)
    memory, mask = rng.normal(2, 4, 8), rng.keep(2, 1, 4)
    _, prefix = model.method("decode", targets(rng, 2, 3), memory, mask)
    _, left = model.method("decode", targets(rng, 2, 1), memory, mask, prefix)
    _, right = model.method("decode", targets(rng, 2, 1), memory, mask, prefix)
    model.method("decode", targets(rng, 2, 2), memory, mask, left)
    model.method("decode", targets(rng, 2, 1), memory, mask, right)
    model.method("decode", targets(rng, 2, 2), memory, mask, prefix)
    _, longer = model.method("decode", targets(rng, 2, 1), memory, mask, prefix)
    _, first = model.method("decode", targets(rng, 2, 1), memory, mask, longer)
    model.method("decode", targets(rng, 2, 1), memory, mask, longer)
    model.method("decode", targets(rng, 2, 1), memory, mask, first)


@pytest.mark.grad
def test_gradients_behind_a_cache(check, rng):
    """What an earlier call returned gets no gradient here; new tokens, memory and weights do."""
    model = build(check, rng, d_model=8, n_heads=2)
    memory = rng.normal(2, 4, 8)
    _, cache = model.method("decode", targets(rng, 2, 3), memory)
    model.method("decode", targets(rng, 2, 2), memory, None, cache)


@pytest.mark.contract
def test_one_step_too_far(check, rng):
    """The tokens in the cache count, too."""
    model = build(check, rng, d_model=8, n_heads=2, max_len=5)
    memory = rng.normal(2, 3, 8)
    _, cache = model.method("decode", targets(rng, 2, 4), memory)
    _, full = model.method("decode", targets(rng, 2, 1), memory, None, cache)
    with check.raises(ValueError):
        model.method("decode", targets(rng, 2, 1), memory, None, full)


@pytest.mark.contract
def test_cache_and_memory_are_used_again(check, rng):
    """The same cache, memory and mask a second time give the same result, bit by bit."""
    model = build(check, rng, d_model=8, n_heads=2)
    tgt, memory, mask = targets(rng, 2, 2), rng.normal(2, 4, 8), rng.keep(2, 1, 4)
    _, cache = model.method("decode", targets(rng, 2, 3), memory, mask)
    first = model.method("decode", tgt, memory, mask, cache)
    model.method("decode", targets(rng, 2, 1), memory, None, cache)
    second = model.method("decode", tgt, memory, mask, cache)
    check.same(second[0], first[0], "the same call with the same cache gives other logits the second time")


def cost_of_a_step(check, rng, width, hidden, past):
    """Count what one token behind `past` cached ones costs, beside what is allowed: twice what it needs."""
    layers, heads, m = 2, 4, 5
    model = check.module(SOURCE, TARGET, width, heads, hidden, layers)
    keys = [rng.normal(2, heads, past, width // heads) for _ in range(2 * layers)]
    cache = list(zip(keys[:layers], keys[layers:], strict=True))
    step = model.do("decode", targets(rng, 2, 1), rng.normal(2, m, width), None, cache)
    attention = 4 * width**2 + 2 * (past + 1) * width
    cross_and_ffn = 2 * width**2 + 2 * m * width + 2 * width * hidden
    needed = 2 * (layers * (attention + cross_and_ffn + 2 * m * width**2) + width * TARGET)
    return step.cost, 2 * needed


@pytest.mark.cost
def test_a_step_works_on_new_tokens_only(check, rng):
    """One token behind a long prefix: the prefix is neither projected nor scored nor turned into logits again."""
    for past in (64, 192):
        cost, allowed = cost_of_a_step(check, rng, 32, 48, past)
        check.at_most(cost.madds, allowed, "a decode step does more than its share of multiply-adds")


@pytest.mark.cost
def test_a_step_through_wide_layers(check, rng):
    """A few tokens in the cache and wide hidden layers: they work for the new token only."""
    cost, allowed = cost_of_a_step(check, rng, 8, 256, 8)
    check.at_most(cost.madds, allowed, "a decode step does more than its share of multiply-adds")


@pytest.mark.derive
def test_a_long_chunk_behind_a_cache(check, rng):
    """Forty tokens at once behind a prefix of 480: each at its own place, seeing the whole prefix and no later one."""
    model = build(check, rng, d_model=8, n_heads=2)
    feed(model, rng.normal(1, 4, 8), None, targets(rng, 1, 520), [480, 40])


@pytest.mark.derive
def test_one_token_behind_three_hundred(check, rng):
    """A step far into a text: the new token sees all that lies behind it."""
    model = build(check, rng, d_model=8, n_heads=2)
    cache = [(rng.normal(2, 2, 300, 4), rng.normal(2, 2, 300, 4))]
    model.method("decode", targets(rng, 2, 1), rng.normal(2, 4, 8), None, cache)
