"""What `kata show gqa --weights` draws."""

from grader.kit.drawings import WORDS, causal, embedded


def drawing(check, rng):
    """Four heads, two of which share keys and values each."""
    attention = check.module(d_model=8, n_heads=4, n_kv_heads=2)
    _output, weights = attention(2 * embedded(rng, WORDS, 8), mask=causal(len(WORDS)))
    return {"weights": (weights, WORDS, WORDS)}
