"""What `kata show valid-lens --weights` draws."""

import torch

from grader.kit.drawings import WORDS


def drawing(check, rng):
    """Four rows of scores, of which 6, 3, 1 and 0 count."""
    weights = check(rng.normal(4, 1, len(WORDS)), valid_lens=torch.tensor([6, 3, 1, 0]))
    return {"weights": (weights, ["valid 6", "valid 3", "valid 1", "valid 0"], WORDS)}
