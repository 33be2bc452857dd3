"""What `kata show mha --weights` draws."""

from grader.kit.drawings import WORDS, causal, embedded


def drawing(check, rng):
    """Two heads over one sentence, causal."""
    attention = check.module(d_model=8, n_heads=2)
    x = 2 * embedded(rng, WORDS, 8)
    _output, weights = attention(x, x, x, mask=causal(len(WORDS)))
    return {"weights": (weights, WORDS, WORDS)}
