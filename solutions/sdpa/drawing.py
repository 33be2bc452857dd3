"""What `kata show sdpa --weights` draws."""

from grader.kit.drawings import WORDS, causal, embedded


def drawing(check, rng):
    """A sentence that looks back on itself."""
    x = embedded(rng, WORDS, 8)
    _output, weights = check(2 * x, x, x, mask=causal(len(WORDS)))
    return {"weights": (weights, WORDS, WORDS)}
