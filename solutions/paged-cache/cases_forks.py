"""Hidden cases of paged-cache: sequences that share blocks."""

import pytest
from cases import begun, bookkeeping, build, forked, put


@pytest.mark.parametrize("held", [3, 4, 1])
def test_fork(check, rng, held):
    """A fork has the tokens and takes no block; then both go on, each for itself."""
    cache = forked(check, rng, held, 8, 2)
    cache.method("n_free")
    cache.method("gather", 1)
    put(cache, rng, 1, 1, 2)
    put(cache, rng, 0, 2, 1)
    cache.method("gather", 1)


@bookkeeping
def test_parent_writes_first(check, rng):
    """The one that was forked goes on first: the fork keeps what it had."""
    cache = forked(check, rng, 2, 8, 4)
    put(cache, rng, 0, 1)
    cache.method("gather", 1)
    put(cache, rng, 1, 1)
    cache.method("gather", 0)


@bookkeeping
def test_fork_of_an_empty_sequence(check, rng):
    """Nothing is shared, and nothing gets in the way."""
    cache = begun(check, 4, 2)
    cache.method("fork", 0)
    put(cache, rng, 0, 2)
    put(cache, rng, 1, 3)
    cache.method("gather", 0)


@bookkeeping
def test_many_forks(check, rng):
    """Four samples of one prompt, each a token further, and one of them is forked again."""
    cache = begun(check, 9, 4)
    put(cache, rng, 0, 6)
    for seq in (1, 2, 3):
        cache.method("fork", 0)
        put(cache, rng, seq, 1)
    cache.method("fork", 2)
    put(cache, rng, 4, 1, 2)
    put(cache, rng, 2, 1)
    for seq in range(5):
        cache.method("gather", seq)


@bookkeeping
def test_three_share_a_block(check, rng):
    """Three hold the same block and go on one after the other: the last one is alone with it by then."""
    cache = forked(check, rng, 2, 9, 4)
    cache.method("fork", 0)
    for seq in (0, 1, 2):
        put(cache, rng, seq, 1)
    for seq in (0, 1, 2):
        cache.method("gather", seq)


@pytest.mark.derive
def test_hundreds_of_forks(check, rng):
    """A block has 257 holders, more than a byte counts: it is still shared."""
    cache = begun(check, 4, 4)
    put(cache, rng, 0, 2)
    for _ in range(256):
        cache.do("fork", 0)
    put(cache, rng, 256, 1)
    put(cache, rng, 7, 1)
    cache.method("gather", 0)
    cache.method("gather", 256)


@bookkeeping
@pytest.mark.parametrize("freed", [0, 1])
def test_sole_holder_writes_in_place(check, rng, freed):
    """One of two that share a block is freed: the other one need not copy it any more."""
    cache = forked(check, rng, 6, 4, 4)
    cache.do("free", freed)
    cache.method("n_free")
    put(cache, rng, 1 - freed, 1, 1)


@bookkeeping
def test_full_blocks_are_not_copied(check, rng):
    """A shared block that is full is never written again: both take a new one."""
    cache = forked(check, rng, 2, 3, 2)
    put(cache, rng, 0, 1)
    put(cache, rng, 1, 1)


@bookkeeping
def test_shared_blocks_are_not_given_away(check, rng):
    """A sequence that shares its blocks is freed: what the other one holds stays, and is not overwritten."""
    cache = forked(check, rng, 4, 4, 2)
    cache.do("free", 0)
    cache.method("n_free")
    cache.method("new")
    put(cache, rng, 2, 4)
    cache.method("gather", 1)
    cache.do("free", 1)
    cache.method("n_free")
    put(cache, rng, 2, 3)


@bookkeeping
def test_forks_of_forks(check, rng):
    """Each fork is forked again and goes on; the second of four is freed."""
    cache = build(check, 12, 4, 3, 4)
    cache.method("new")
    put(cache, rng, 0, 2)
    for seq in range(3):
        cache.method("fork", seq)
        put(cache, rng, seq + 1, 1 + seq)
    cache.do("free", 1)
    cache.method("n_free")
    put(cache, rng, 2, 1)
    cache.method("gather", 3)
    cache.method("gather", 0)
