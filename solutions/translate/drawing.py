"""What `kata show translate --weights` draws: the answer is trained with its own loss, and translates."""

from grader.kit import corpus
from grader.kit.rewards import rewards

CORPUS = corpus.read("translate")
SIZES = 32, 4, 64, 1
RATE = 0.015


def drawing(check, losses):
    """The training of the last case, and what has come of it."""
    learned = corpus.trained(check, CORPUS, SIZES, RATE)
    return rewards(learned, CORPUS, losses)
