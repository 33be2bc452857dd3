"""What `kata show masks --weights` draws."""

import torch

from grader.kit.drawings import WORDS


def drawing(check):
    """Two sentences of different lengths, and what may be seen of the shorter one."""
    ids = torch.tensor([[5, 7, 2, 9, 5, 8], [5, 7, 2, 0, 0, 0]])
    padding = check["padding_mask"](ids)
    causal = check["causal_mask"](len(WORDS))
    both = check["combine_masks"](padding, causal)
    return {
        "padding_mask": (padding, ["all"], WORDS),
        "causal_mask": (causal, WORDS, WORDS),
        "combine_masks": (both, WORDS, WORDS),
    }
