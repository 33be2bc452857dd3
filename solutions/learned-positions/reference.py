"""Learned positions: a trained vector for each place in the sequence.

    output_p = dropout(x_p + pe_p)        pe: a parameter, one row for each position

Gehring et al. 2017, "Convolutional Sequence to Sequence Learning" (arXiv:1705.03122), section 3.1; used by
Devlin et al. 2018, "BERT" (arXiv:1810.04805), and Radford et al. 2018, "Improving Language Understanding by
Generative Pre-Training".
"""

import torch
from torch import Tensor, nn


class LearnedPositionalEncoding(nn.Module):
    """Add a learned vector to each token, by its position, then drop out.

    max_len  number of positions in the table
    d_model  width of the tokens
    dropout  probability of dropping an entry of the sum, in training

    Parameter: pe (max_len, d_model).
    """

    def __init__(self, max_len: int, d_model: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.pe = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.normal_(self.pe, std=0.02)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Return dropout(x + positions) for x (B, S, d_model): same shape, dtype and device as x.

        Raises ValueError when S exceeds max_len.
        """
        length = x.size(1)
        if length > self.pe.size(0):
            raise ValueError(f"a sequence of {length} tokens, but the table ends after {self.pe.size(0)}")
        positions = self.pe[:length].to(x.dtype)  # (S, d_model)
        return self.dropout(x + positions)  # (B, S, d_model)
