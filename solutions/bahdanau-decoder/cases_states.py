"""Hidden cases of bahdanau-decoder: states side by side."""

import pytest
from cases import encoded, without_grad


@without_grad
@pytest.mark.parametrize("steps", [[1, 1], [2, 1]])
def test_another_sentence_begins_meanwhile(check, rng, steps):
    """Its state is made before the first one is used, of other outputs of the same sizes: each goes on as if alone."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=2)
    one, other = ((encoded(rng, 2, 4, 5, 2), rng.integers(1, 5, 2)) for _ in range(2))
    decoder.unroll("init_state", one, [rng.integers(0, 6, 2, count) for count in steps], meanwhile=other)
