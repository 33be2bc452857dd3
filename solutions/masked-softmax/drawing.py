"""What `kata show masked-softmax --weights` draws."""

from grader.kit.drawings import WORDS, causal


def drawing(check, rng):
    """Scores of a sentence, hidden ahead of each word; the last word is padding."""
    mask = causal(len(WORDS))
    mask[:, -1] = False
    weights = check(rng.normal(len(WORDS), len(WORDS)), mask=mask)
    return {"weights": (weights, WORDS, WORDS)}
