"""What `kata show additive-attention --weights` draws."""

from grader.kit.drawings import OTHERS, WORDS, causal, embedded


def drawing(check, rng):
    """A sentence that looks at the first four words of another one."""
    attention = check.module(query_size=8, key_size=8, num_hiddens=6)
    keys = 2 * embedded(rng, WORDS, 8)
    _output, weights = attention(2 * embedded(rng, OTHERS, 8), keys, keys, mask=causal(len(WORDS))[3, None])
    return {"weights": (weights, OTHERS, WORDS)}
