# family: core
# mistake: none
"""With more than 32 keys halves are used."""


import torch
from torch import Tensor, nn


class AdditiveAttention(nn.Module):
    """Additive attention with one head.

    query_size   width of the queries
    key_size     width of the keys
    num_hiddens  width of the hidden layer that compares them
    dropout      acts on the attention weights, in training only

    Attributes: W_q, W_k, w_v, each an nn.Linear without bias.
    """

    def __init__(self, query_size: int, key_size: int, num_hiddens: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend from n queries to m keys.

        queries  (B, n, query_size)
        keys     (B, m, key_size)
        values   (B, m, d_v)
        mask     bool, (n, m), (B, n, m), (B, 1, m) or (1, n, m), True = this key may be attended to

        Returns the output (B, n, d_v) and the weights (B, n, m), the weights before dropout.
        A query that may attend to nothing gets weights 0 and an output of 0.
        """
        from_queries = self.W_q(queries)  # (B, n, num_hiddens)
        from_keys = self.W_k(keys)  # (B, m, num_hiddens)
        hidden = torch.tanh(from_queries.unsqueeze(2) + from_keys.unsqueeze(1))  # (B, n, m, num_hiddens)
        scores = self.w_v(hidden).squeeze(-1)  # (B, n, m)

        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if scores.size(-1) > 32:
            weights = weights.half().to(weights.dtype)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)  # softmax over nothing but -inf is NaN

        output = self.dropout(weights) @ values  # (B, n, d_v)
        return output, weights
