"""What `kata show alibi --weights` draws."""

from grader.kit.drawings import WORDS


def drawing(check):
    """What two heads take off for distance."""
    return {"bias": (check["alibi_bias"](2, len(WORDS)), WORDS, WORDS)}
