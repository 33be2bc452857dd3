"""Hidden cases of paged-cache."""

import pytest
import torch

# Which block is whose does not depend on the dtype of tokens.
bookkeeping = pytest.mark.derive("contract")


def build(check, *sizes):
    """Build a cache in the dtype and on the device of the variant."""
    return check.module(*sizes, dtype=check.dtype, device=check.device)


def begun(check, n_blocks, block_size, n_heads=3, d_head=4):
    """Build a cache, and begin sequence 0."""
    cache = build(check, n_blocks, block_size, n_heads, d_head)
    cache.method("new")
    return cache


def forked(check, rng, held, n_blocks, block_size):
    """Build a cache whose sequence 0 holds some tokens, and fork it: sequence 1."""
    cache = begun(check, n_blocks, block_size)
    put(cache, rng, 0, held)
    cache.method("fork", 0)
    return cache


def put(cache, rng, seq, *chunks, heads=3, width=4):
    """Append chunks of these lengths; then ask for the free blocks and for the sequence."""
    for n in chunks:
        cache.do("append", seq, rng.normal(heads, n, width), rng.normal(heads, n, width))
    cache.method("n_free")
    cache.method("gather", seq)


def refused(check, cache, rng, seq, n, heads=3, width=4):
    """Append tokens for which there is no room."""
    with check.raises(ValueError):
        cache.do("append", seq, rng.normal(heads, n, width), rng.normal(heads, n, width))
    cache.method("gather", seq)
    cache.method("n_free")


def test_by_hand(check):
    """The example of the brief: three tokens, a fork, one more for each of the two, and one too many."""
    cache = begun(check, 3, 2, 1, 1)
    for seq, tokens in ((0, [20, 31, 45]), (1, [58]), (0, [67])):
        x = torch.tensor(tokens, dtype=torch.float64)[None, :, None]
        cache.do("append", seq, x, x)
        cache.method("n_free")
        if seq == 0 and len(tokens) > 1:
            cache.method("fork", 0)
            cache.method("n_free")
    cache.method("gather", 0)
    cache.method("gather", 1)
    x = torch.tensor([[[79.0]]], dtype=torch.float64)
    with check.raises(ValueError):
        cache.do("append", 0, x, x)


def test_empty_at_the_start(check):
    """All blocks of a new cache are free, and sequences begin without tokens."""
    cache = build(check, 5, 4, 3, 2)
    cache.method("n_free")
    cache.method("new")
    cache.method("n_free")
    cache.method("gather", 0)


@bookkeeping
def test_free_blocks_are_a_number(check):
    """n_free is read, not called."""
    begun(check, 5, 4).method("n_free.__int__")


def test_one_token(check, rng):
    """One token takes one block; what comes back is that token."""
    cache = begun(check, 5, 4)
    put(cache, rng, 0, 1)


@pytest.mark.parametrize("chunks", [[1] * 6, [3], [4], [5], [3, 1, 1], [2, 9, 3], [4, 8]], ids=str)
def test_chunks(check, rng, chunks):
    """Blocks of four tokens: chunks that end before, at and behind the end of a block, and that fill several."""
    cache = begun(check, 5, 4)
    put(cache, rng, 0, *chunks)


@bookkeeping
@pytest.mark.parametrize("block_size", [1, 2, 3, 16])
def test_block_size(check, rng, block_size):
    """Blocks of one token, of a few, and one that nobody fills."""
    cache = begun(check, 7, block_size)
    put(cache, rng, 0, 2, 1, 3)


def test_all_sizes_equal(check, rng):
    """Blocks, tokens, heads and features are three each, where a wrong axis does not show in the shape."""
    cache = begun(check, 3, 3, 3, 3)
    put(cache, rng, 0, 3, 3, 3, width=3)


def test_sizes_of_one(check, rng):
    """One block of one token with one feature."""
    cache = begun(check, 1, 1, 1, 1)
    put(cache, rng, 0, 1, heads=1, width=1)


def test_arguments_by_name(check, rng):
    """The names of the arguments are part of the contract."""
    cache = check.module(device=check.device, dtype=check.dtype, d_head=4, n_heads=3, block_size=2, n_blocks=4)
    cache.method("new")
    cache.do("append", v=rng.normal(3, 3, 4), k=rng.normal(3, 3, 4), seq=0)
    cache.method("gather", seq=0)
    cache.method("fork", seq=0)
    cache.do("free", seq=0)
    cache.method("gather", seq=1)
    cache.method("n_free")


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_no_dtype_and_no_device(check, rng):
    """Left at None they are what torch.empty takes them for: where a caller has set a default, that one."""
    for settings in ({"dtype": None, "device": check.device}, {"dtype": check.dtype, "device": None}):
        cache = check.module(4, 2, 3, 4, **settings)
        cache.method("new")
        put(cache, rng, 0, 3)


@pytest.mark.derive("contract")
def test_without_dtype_and_device(check, rng):
    """Both may be left out."""
    cache = check.module(4, 2, 3, 4)
    cache.method("new")
    put(cache, rng, 0, 3)


@bookkeeping
def test_sequences_in_turns(check, rng):
    """Three sequences grow in turns: the blocks of each lie anywhere, and its tokens come back in order."""
    cache = build(check, 12, 2, 3, 4)
    for _ in range(3):
        cache.method("new")
    for n in (1, 3, 2):
        for seq in (1, 0, 2):
            cache.do("append", seq, rng.normal(3, n, 4), rng.normal(3, n, 4))
    for seq in range(3):
        cache.method("gather", seq)
    cache.method("n_free")


def test_transposed_tokens(check, rng):
    """Heads that were split off by a transpose are views, not copies."""
    cache = begun(check, 4, 2)
    for n in (3, 1):
        cache.do("append", 0, rng.normal(n, 3, 4).transpose(0, 1), rng.normal(n, 3, 4).transpose(0, 1))
        cache.method("gather", 0)


@pytest.mark.parametrize("block_size", [2, 3])
def test_one_tensor_for_both(check, rng, block_size):
    """Keys and values may be the same tensor."""
    cache = begun(check, 4, block_size)
    for n in (1, 2):
        x = rng.normal(3, n, 4)
        cache.do("append", 0, x, x)
        cache.method("gather", 0)


@bookkeeping
def test_free_gives_blocks_back(check, rng):
    """What one sequence gives back another one fills; old tokens do not come back."""
    cache = build(check, 3, 2, 3, 4)
    for seq in range(3):
        cache.method("new")
        put(cache, rng, seq, 5)
        cache.do("free", seq)
    cache.method("n_free")


@bookkeeping
def test_blocks_from_several_sequences(check, rng):
    """Every other sequence is freed: a long one gets blocks from all over the cache."""
    cache = build(check, 8, 2, 3, 4)
    for seq in range(4):
        cache.method("new")
        put(cache, rng, seq, 4)
    cache.do("free", 0)
    cache.do("free", 2)
    cache.method("n_free")
    cache.method("new")
    put(cache, rng, 4, 3, 1, 3)
    cache.method("gather", 1)
    cache.method("gather", 3)


@bookkeeping
def test_numbers_are_not_used_again(check, rng):
    """Numbers count on, whoever was freed, and forks count with the others."""
    cache = begun(check, 6, 2)
    cache.method("new")
    cache.do("free", 1)
    cache.method("new")
    cache.do("free", 0)
    put(cache, rng, 2, 3)
    cache.method("fork", 2)
    cache.do("free", 2)
    cache.method("new")
    cache.method("gather", 3)
    cache.method("gather", 4)


@bookkeeping
def test_what_was_gathered_stays(check, rng):
    """Tokens are gathered, their blocks are given to another sequence and written: what was returned is what it was."""
    for n_blocks, block_size, heads, held in ((1, 8, 3, 3), (4, 2, 1, 3), (4, 8, 1, 3), (4, 3, 3, 3), (5, 2, 3, 5)):
        cache = begun(check, n_blocks, block_size, heads)
        cache.do("append", 0, rng.normal(heads, held, 4), rng.normal(heads, held, 4))
        gathered = cache.method("gather", 0)
        cache.do("free", 0)
        cache.method("new")
        cache.do("append", 1, rng.normal(heads, 5, 4), rng.normal(heads, 5, 4))
        cache.do("append", 1, gathered[0], gathered[1])
        cache.method("gather", 1)


@bookkeeping
def test_two_caches(check, rng):
    """Two caches of different sizes, filled in turns."""
    first, second = build(check, 4, 2, 3, 4), build(check, 3, 4, 3, 4)
    first.method("new")
    put(first, rng, 0, 2)
    second.method("new")
    put(second, rng, 0, 3)
    put(first, rng, 0, 3)
    second.do("free", 0)
    put(first, rng, 0, 1)
    second.method("n_free")


@pytest.mark.contract
def test_no_block_left(check, rng):
    """A full cache refuses a token, now and again, and has what it had; the rest of a block can still be filled."""
    cache = begun(check, 2, 2)
    cache.method("new")
    put(cache, rng, 0, 1)
    put(cache, rng, 1, 2)
    for _ in range(2):
        refused(check, cache, rng, 1, 1)
    put(cache, rng, 0, 1)
    cache.method("gather", 1)


@pytest.mark.contract
@pytest.mark.parametrize("n", [6, 9, 30])
def test_chunk_that_does_not_fit(check, rng, n):
    """Nothing of a chunk that is too long is kept, and no block is lost to it."""
    cache = begun(check, 3, 2)
    put(cache, rng, 0, 1)
    refused(check, cache, rng, 0, n)
    cache.method("gather", 0)
    put(cache, rng, 0, 2, 3)


@pytest.mark.contract
def test_no_block_left_for_a_copy(check, rng):
    """A shared block cannot be copied: there is room in it, but not for two."""
    cache = forked(check, rng, 6, 2, 4)
    refused(check, cache, rng, 1, 1)
    refused(check, cache, rng, 0, 2)
    cache.method("gather", 0)
    cache.method("gather", 1)
    cache.do("free", 1)
    put(cache, rng, 0, 2)


@pytest.mark.contract
def test_one_block_left_where_two_are_needed(check, rng):
    """A copy and a block behind it: one free block is too few, and the copy is not made either."""
    cache = forked(check, rng, 3, 3, 2)
    refused(check, cache, rng, 1, 2)
    cache.method("gather", 1)
    put(cache, rng, 0, 1)
    put(cache, rng, 1, 1)
    cache.method("gather", 0)


@pytest.mark.contract
@pytest.mark.parametrize("method", ["gather", "free", "fork", "append"])
def test_numbers_that_are_not_there(check, rng, method):
    """A number that nobody has got, and one that was freed."""
    cache = begun(check, 4, 2)
    cache.method("new")
    put(cache, rng, 0, 3)
    cache.do("free", 0)
    more = (rng.normal(3, 1, 4), rng.normal(3, 1, 4)) if method == "append" else ()
    for seq in (0, 2, -1):
        with check.raises(ValueError):
            cache.do(method, seq, *more)
    cache.method("n_free")
    put(cache, rng, 1, 2)


def test_sizes_that_people_run(check, rng):
    """Twelve heads; a prompt of 290 tokens, cut out of longer tensors, in blocks of 16, and more behind it."""
    cache = begun(check, 40, 16, 12, 2)
    cache.do("append", 0, rng.normal(12, 291, 2)[:, 1:], rng.normal(12, 291, 2)[:, 1:])
    cache.method("gather", 0)
    cache.method("fork", 0)
    put(cache, rng, 0, 1, 20, heads=12, width=2)
    put(cache, rng, 1, 2, heads=12, width=2)


@pytest.mark.derive
def test_other_sizes(check, rng):
    """Wide, long, many, large: no rule changes."""
    cache = begun(check, 9, 300, 9, 70)
    for n in (1, 299, 2):
        cache.do("append", 0, rng.normal(9, n, 70, scale=3e4), rng.normal(9, n, 70))
        cache.method("gather", 0)
    cache = begun(check, 300, 2, 1, 1)
    put(cache, rng, 0, 300, 1, 299, heads=1, width=1)
