"""Hidden cases of paged-cache: what a step, a fork and a reading cost."""

import pytest
from cases import begun

HEADS, WIDTH, BLOCK = 2, 16, 4


TOKEN = HEADS * WIDTH


def store(cache, rng, seq, n=1):
    """Append n tokens of the sizes of the cost cases, and count."""
    return cache.method("append", seq, rng.normal(HEADS, n, WIDTH), rng.normal(HEADS, n, WIDTH)).cost


@pytest.mark.cost
@pytest.mark.parametrize("held", [1, 101])
def test_cost_of_a_step(check, rng, held):
    """A step pays for its token, however many blocks there are and however many tokens are held."""
    cache = begun(check, 256, BLOCK, HEADS, WIDTH)
    store(cache, rng, 0, held)
    cost = store(cache, rng, 0)
    check.at_most(cost.elems, 24 * TOKEN, "a step writes far more than its token")
    check.at_most(cost.biggest, 8 * TOKEN, "a step allocates far more than its token", cost.biggest_line)


@pytest.mark.cost
def test_cost_of_a_new_block(check, rng):
    """A step that takes a new block does not make one: the memory is there."""
    cache = begun(check, 256, 64, HEADS, WIDTH)
    cost = store(cache, rng, 0)
    check.at_most(cost.biggest, 8 * TOKEN, "a new block is new memory", cost.biggest_line)
    store(cache, rng, 0, 63)
    cost = store(cache, rng, 0)
    check.at_most(cost.biggest, 8 * TOKEN, "a new block is new memory", cost.biggest_line)


@pytest.mark.cost
def test_cost_of_a_fork(check, rng):
    """A fork copies nothing; the first token behind it copies one block."""
    cache = begun(check, 64, BLOCK, HEADS, WIDTH)
    store(cache, rng, 0, 102)
    forked = cache.method("fork", 0).cost
    check.at_most(forked.elems, 8 * TOKEN, "a fork copies tokens")
    cost = store(cache, rng, 1)
    check.at_most(cost.elems, 8 * BLOCK * TOKEN, "the first token behind a fork copies more than a block")


@pytest.mark.cost
def test_cost_of_gathering(check, rng):
    """A short sequence in a large cache is read alone."""
    cache = begun(check, 256, BLOCK, HEADS, WIDTH)
    cache.method("new")
    store(cache, rng, 0, 400)
    store(cache, rng, 1, 6)
    cost = cache.method("gather", 1).cost
    check.at_most(cost.work, 16 * 2 * BLOCK * TOKEN, "reading a sequence costs far more than its tokens")
    check.at_most(
        cost.biggest, 4 * 2 * BLOCK * TOKEN, "reading a sequence takes far more than its tokens", cost.biggest_line
    )
