"""LoRA: a linear layer stays as it is, and what it has to learn goes through two thin matrices beside it."""

import torch
from torch import Tensor, nn


class LoRALinear(nn.Module):
    """A frozen linear layer with a low-rank path beside it, which alone is trained.

        y = base(x) + alpha / r · B A dropout(x)

    base     the layer that is adapted, with or without a bias
    r        how many numbers the side path squeezes a token into
    alpha    the side path is multiplied by alpha / r
    dropout  share of the features of x that the side path does not see in training

    Attributes: A (r, in_features) and B (out_features, r), nn.Parameter. ValueError for an r below 1.
    """

    def __init__(self, base: nn.Linear, r: int, alpha: float, dropout: float = 0.0) -> None:
        super().__init__()
        raise NotImplementedError("your turn: freeze the base, A and B beside it")

    def forward(self, x: Tensor) -> Tensor:
        """(..., in_features) to (..., out_features)."""
        raise NotImplementedError("your turn: the base, and the side path unless it is merged")

    def merge(self) -> None:
        """Put the side path into the weight: from now on a call costs what the base costs."""
        raise NotImplementedError("your turn: one weight for both paths")

    def unmerge(self) -> None:
        """Take it out again, to go on training."""
        raise NotImplementedError("your turn: the weight as it was")
