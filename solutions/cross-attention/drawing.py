"""What `kata show cross-attention --weights` draws."""

from grader.kit.drawings import OTHERS, WORDS, embedded


def drawing(check, rng):
    """A sentence that looks at another one."""
    attention = check.module(d_model=8, d_k=4)
    _output, weights = attention(2 * embedded(rng, OTHERS, 8), 2 * embedded(rng, WORDS, 8))
    return {"weights": (weights, OTHERS, WORDS)}
