"""LoRA: a linear layer stays as it is, and what it has to learn goes through two thin matrices beside it.

    y = W x + b + alpha / r · B A dropout(x)        W, b frozen; A (r, in) random, B (out, r) zeros at first

Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models" (arXiv:2106.09685), section 4.1 and equation 3.
"""

import math

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
        if r < 1:
            raise ValueError(f"r={r} must be at least 1")
        self.base = base.requires_grad_(False)
        like_base = {"dtype": base.weight.dtype, "device": base.weight.device}
        self.A = nn.Parameter(torch.empty(r, base.in_features, **like_base))  # (r, in)
        self.B = nn.Parameter(torch.zeros(base.out_features, r, **like_base))  # (out, r)
        nn.init.normal_(self.A, std=1 / math.sqrt(base.in_features))
        self.scale = alpha / r
        self.dropout = nn.Dropout(dropout)
        self.merged = False

    def forward(self, x: Tensor) -> Tensor:
        """(..., in_features) to (..., out_features)."""
        result = self.base(x)  # (..., out)
        if self.merged:
            return result
        squeezed = self.dropout(x) @ self.A.T  # (..., r)
        side = squeezed @ self.B.T  # (..., out)
        return result + self.scale * side

    @torch.no_grad()
    def merge(self) -> None:
        """Put the side path into the weight: from now on a call costs what the base costs."""
        if not self.merged:
            change = self.scale * (self.B @ self.A)  # (out, in)
            self.base.weight += change
            self.merged = True

    @torch.no_grad()
    def unmerge(self) -> None:
        """Take it out again, to go on training."""
        if self.merged:
            change = self.scale * (self.B @ self.A)  # (out, in)
            self.base.weight -= change
            self.merged = False
