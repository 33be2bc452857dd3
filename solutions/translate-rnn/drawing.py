"""What `kata show translate-rnn --weights` draws: the answer is trained with its own loss, and translates."""

import torch

from grader.kit import corpus
from grader.kit.drawings import got
from grader.kit.rewards import rewards

CORPUS = corpus.read("translate")
SIZES = 32, 64, 1
RATE = 0.03


def drawing(check, losses):
    """The training of the last case, and what has come of it."""
    learned = corpus.trained(check, CORPUS, SIZES, RATE)

    def attended(source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        learned(source, target[:, :-1])
        return torch.cat(got(learned.method("decoder.attention_weights")), dim=1)[0]

    return rewards(learned, CORPUS, losses, attended)
