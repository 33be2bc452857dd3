"""What `kata show self-attention --weights` draws."""

from grader.kit.drawings import WORDS, embedded


def drawing(check, rng):
    """A sentence that looks at itself."""
    attention = check.module(d_model=8, d_k=4)
    _output, weights = attention(2 * embedded(rng, WORDS, 8))
    return {"weights": (weights, WORDS, WORDS)}
