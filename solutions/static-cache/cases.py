"""Hidden cases of static-cache."""

import pytest
import torch


def build(check, *sizes):
    """Build a cache in the dtype and on the device of the variant."""
    return check.module(*sizes, dtype=check.dtype, device=check.device)


def feed(cache, rng, batch, n_heads, d_head, chunks):
    """Store chunks of these lengths, and ask for the length after each."""
    for n in chunks:
        cache.method("update", rng.normal(batch, n_heads, n, d_head), rng.normal(batch, n_heads, n, d_head))
        cache.method("length")


def test_by_hand(check):
    """The example of the brief: two tokens, three that do not fit, two that do, and a reset."""
    cache = build(check, 1, 1, 4, 2)
    numbers = ([[11, 12], [21, 22]], [[51, 52], [61, 62]], [[31, 32], [41, 42]], [[71, 72], [81, 82]])
    first_k, first_v, then_k, then_v = (torch.tensor([[x]], dtype=torch.float64) for x in numbers)
    cache.method("update", first_k, first_v)
    cache.method("length")
    too_long = torch.ones(1, 1, 3, 2, dtype=torch.float64)
    with check.raises(ValueError):
        cache.method("update", too_long, too_long)
    cache.method("length")
    cache.method("update", then_k, then_v)
    cache.method("length")
    cache.do("reset")
    cache.method("length")


def test_empty_at_the_start(check):
    """A new cache holds no tokens."""
    build(check, 2, 3, 5, 4).method("length")


def test_first_token(check, rng):
    """One token: what comes back is that token, whatever has been reserved."""
    feed(build(check, 2, 3, 5, 4), rng, 2, 3, 4, [1])


@pytest.mark.parametrize("chunks", [[4, 1, 1, 1], [1, 1, 1], [2, 3], [1, 4, 2]])
def test_prompt_and_tokens(check, rng, chunks):
    """After each update: all tokens so far, oldest first, and their number."""
    feed(build(check, 2, 3, 9, 4), rng, 2, 3, 4, chunks)


@pytest.mark.parametrize("chunks", [[5], [3, 2], [4, 1], [1, 1, 1, 1, 1]])
def test_filled_to_the_last_place(check, rng, chunks):
    """max_len tokens fit, in one update or in several."""
    feed(build(check, 3, 2, 5, 4), rng, 3, 2, 4, chunks)


def test_all_sizes_equal(check, rng):
    """B == H == max_len == d_head, where a wrong axis does not show in the shape."""
    feed(build(check, 3, 3, 3, 3), rng, 3, 3, 3, [1, 2])
    feed(build(check, 3, 3, 3, 3), rng, 3, 3, 3, [3])


def test_sizes_of_one(check, rng):
    """One sequence, one head, one place, one feature."""
    feed(build(check, 1, 1, 1, 1), rng, 1, 1, 1, [1])


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_no_dtype_and_no_device(check, rng):
    """`None` leaves both to PyTorch: where a caller has set a default, the buffers have it."""
    cache = check.module(2, 3, 5, 4, dtype=None, device=check.device)
    cache.method("update", rng.normal(2, 3, 2, 4), rng.normal(2, 3, 2, 4))
    cache = check.module(2, 3, 5, 4, dtype=check.dtype, device=None)
    cache.method("update", rng.normal(2, 3, 2, 4), rng.normal(2, 3, 2, 4))


def test_sizes_by_name(check, rng):
    """The names of the arguments are part of the contract."""
    cache = check.module(batch=2, n_heads=1, max_len=4, d_head=3, device=check.device, dtype=check.dtype)
    cache.method("update", k=rng.normal(2, 1, 2, 3), v=rng.normal(2, 1, 2, 3))
    cache.method("update", v=rng.normal(2, 1, 1, 3), k=rng.normal(2, 1, 1, 3))


@pytest.mark.derive("contract")
def test_without_dtype_and_device(check, rng):
    """Left at None they are what torch.empty takes them for."""
    feed(check.module(2, 3, 5, 4), rng, 2, 3, 4, [2, 1])


def test_transposed_keys_and_values(check, rng):
    """Heads that were split off by a transpose are views, not copies."""
    cache = build(check, 2, 3, 6, 4)
    for n in (3, 1):
        cache.method("update", rng.normal(2, n, 3, 4).transpose(1, 2), rng.normal(2, n, 3, 4).transpose(1, 2))


def test_one_tensor_for_both(check, rng):
    """Keys and values may be the same tensor."""
    cache = build(check, 2, 1, 4, 3)
    for n in (1, 2):
        x = rng.normal(2, 1, n, 3)
        cache.method("update", x, x)


@pytest.mark.parametrize("before", [[5], [3, 1], [1], []])
def test_reset(check, rng, before):
    """After a reset the cache is empty and takes max_len tokens again; old ones do not come back."""
    cache = build(check, 2, 3, 5, 4)
    feed(cache, rng, 2, 3, 4, before)
    cache.do("reset")
    cache.method("length")
    feed(cache, rng, 2, 3, 4, [2, 1, 2])


def test_reset_again_and_again(check, rng):
    """One cache serves one conversation after the other."""
    cache = build(check, 2, 1, 4, 3)
    for chunks in ([2, 2], [1], [4]):
        feed(cache, rng, 2, 1, 3, chunks)
        cache.do("reset")
        cache.do("reset")
    cache.method("length")


def test_two_caches(check, rng):
    """Two caches of different sizes, filled in turns; a reset of one is none of the other."""
    first, second = build(check, 2, 3, 5, 4), build(check, 1, 2, 7, 4)
    feed(first, rng, 2, 3, 4, [2])
    feed(second, rng, 1, 2, 4, [3, 1])
    feed(first, rng, 2, 3, 4, [1])
    second.do("reset")
    feed(first, rng, 2, 3, 4, [2])
    feed(second, rng, 1, 2, 4, [2])


def test_caches_of_the_same_size(check, rng):
    """Two layers of one model, and one that is built after a reset of the first."""
    first, second = build(check, 2, 2, 4, 3), build(check, 2, 2, 4, 3)
    for chunks in ([2], [1], [1]):
        feed(first, rng, 2, 2, 3, chunks)
        feed(second, rng, 2, 2, 3, chunks)
    first.do("reset")
    third = build(check, 2, 2, 4, 3)
    for cache in (first, third, first):
        feed(cache, rng, 2, 2, 3, [1])


def too_many(check, cache, rng, n):
    """Hand the cache two sequences of n tokens, for which it has no room."""
    with check.raises(ValueError):
        cache.method("update", rng.normal(2, 3, n, 4), rng.normal(2, 3, n, 4))


@pytest.mark.contract
def test_one_token_too_many(check, rng):
    """A full cache refuses a single token, now and again, and is as full as before."""
    cache = build(check, 2, 3, 5, 4)
    feed(cache, rng, 2, 3, 4, [4, 1])
    for _ in range(2):
        too_many(check, cache, rng, 1)
        cache.method("length")


@pytest.mark.contract
@pytest.mark.parametrize("held", [0, 2, 4])
def test_chunk_that_does_not_fit(check, rng, held):
    """Nothing of a chunk that is too long is kept: what fits can still be stored in its place."""
    cache = build(check, 2, 3, 5, 4)
    feed(cache, rng, 2, 3, 4, [held] if held else [])
    too_many(check, cache, rng, 6 - held)
    cache.method("length")
    too_many(check, cache, rng, 12)
    feed(cache, rng, 2, 3, 4, [1] * (5 - held))


@pytest.mark.contract
def test_reset_after_an_error(check, rng):
    """A cache that refused tokens is as good as new after a reset."""
    cache = build(check, 2, 3, 3, 4)
    feed(cache, rng, 2, 3, 4, [3])
    too_many(check, cache, rng, 2)
    cache.do("reset")
    feed(cache, rng, 2, 3, 4, [1, 2])


BATCH, HEADS, WIDTH = 2, 2, 16
NEW = BATCH * HEADS * WIDTH


def store(cache, rng, n=1):
    """Store n tokens of the sizes of the cost cases, and count."""
    return cache.method("update", rng.normal(BATCH, HEADS, n, WIDTH), rng.normal(BATCH, HEADS, n, WIDTH)).cost


@pytest.mark.cost
def test_cost_of_a_step_in_a_large_cache(check, rng):
    """A step does not pay for places that nobody has taken yet."""
    cache = build(check, BATCH, HEADS, 512, WIDTH)
    store(cache, rng, 2)
    check.at_most(store(cache, rng).elems, 10 * NEW, "a step writes more than its new token when max_len is large")


@pytest.mark.cost
def test_cost_of_the_first_step(check, rng):
    """The memory is there before the first token, and is still there after a reset."""
    cache = build(check, BATCH, HEADS, 512, WIDTH)
    for _ in range(2):
        first, second = store(cache, rng), store(cache, rng)
        check.at_most(second.elems, 10 * NEW, "a step writes more than its new token when max_len is large")
        check.at_most(first.biggest, 4 * NEW, "the memory is reserved in a step, not at the start", first.biggest_line)
        cache.do("reset")


@pytest.mark.cost
@pytest.mark.parametrize("held", [20, 200])
def test_cost_of_a_step_behind_a_long_prefix(check, rng, held):
    """A step does not pay for the tokens that are there already."""
    cache = build(check, BATCH, HEADS, 256, WIDTH)
    store(cache, rng, held)
    cost = store(cache, rng)
    check.at_most(cost.biggest, 4 * NEW, "a step allocates memory for tokens that are there already", cost.biggest_line)
    check.at_most(cost.elems, 10 * NEW, "a step writes tokens again that are there already")


@pytest.mark.cost
def test_cost_where_a_smaller_buffer_would_be_full(check, rng):
    """No step has to move to a larger buffer: there is room for max_len from the beginning."""
    cache = build(check, BATCH, HEADS, 260, WIDTH)
    store(cache, rng, 3)
    held = 3
    for size in (8, 16, 32, 64, 128, 256):
        store(cache, rng, size - 1 - held)
        for _ in range(2):
            cost = store(cache, rng)
            check.at_most(cost.biggest, 4 * NEW, "a step moves the cache to a larger buffer", cost.biggest_line)
        held = size + 1


def test_sizes_that_people_run(check, rng):
    """Twelve heads; a prompt of 290 tokens, cut out of longer tensors, and more behind it."""
    cache = build(check, 1, 12, 300, 2)
    cache.method("update", rng.normal(1, 12, 291, 2)[:, :, 1:], rng.normal(1, 12, 291, 2)[:, :, 1:])
    cache.method("length")
    feed(cache, rng, 1, 12, 2, [1, 9])


@pytest.mark.contract
def test_a_full_chunk_is_copied(check, rng):
    """A chunk fills the cache at once: what the caller does with his tensors later does not matter, nor the reverse."""
    cache = build(check, 2, 1, 4, 3)
    x = rng.normal(2, 1, 4, 3)
    cache.method("update", x, x)
    cache.do("reset")
    feed(cache, rng, 2, 1, 3, [2, 1])


@pytest.mark.derive
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    x = rng.normal(1, 2, 3, 4)
    build(check, 1, 2, 3, 4).method("update", x, x.clone())
    cache = build(check, 9, 2, 4, 70)
    for n in (1, 3):
        cache.method("update", rng.normal(9, 2, n, 70, scale=3e4), rng.normal(9, 2, n, 70))
        cache.method("length")
    for sizes in ((1, 3, 1, 2), (1, 1, 70, 2)):
        first, second = build(check, *sizes), build(check, *sizes)
        for cache in (first, second, first):
            cache.do("reset")
            repeated = rng.normal(*sizes[:2], 1, 2).expand(-1, -1, sizes[2], -1)
            cache.method("update", repeated, rng.normal(*sizes[:2], sizes[2], 2))
        first.do("reset")
        feed(first, rng, *sizes[:2], 2, [1] * sizes[2])
