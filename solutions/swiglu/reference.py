"""SwiGLU: the feed-forward network with a gate, as Llama has it.

    y = w2(silu(w1 x) * w3 x)        silu(h) = h * sigmoid(h)

Shazeer 2020, "GLU Variants Improve Transformer" (arXiv:2002.05202), equation 6; the names of the layers are Llama's.
"""

import torch
from torch import Tensor, nn


class SwiGLU(nn.Module):
    """Three linear layers without biases: a gate, the values that it lets through, and the way back.

        y = w2(silu(w1 x) * w3 x)        silu(h) = h * sigmoid(h)

    d_model  width of the tokens
    d_ff     width of the hidden layer

    Attributes: w1 and w3 (nn.Linear, d_model to d_ff), w2 (nn.Linear, d_ff to d_model).
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) to (..., d_model)."""
        gate = self.w1(x)  # (..., d_ff)
        value = self.w3(x)  # (..., d_ff)
        hidden = gate * torch.sigmoid(gate) * value
        return self.w2(hidden)  # (..., d_model)
