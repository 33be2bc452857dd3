# family: core
# mistake: gelu
# GELU instead of ReLU in the feed-forward network.
import torch
from torch import nn


class EncoderBlock(nn.Module):
    """All in one: the submodules only hold the weights."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} n_heads={n_heads}")
        self.n_heads = n_heads
        self.attention = nn.ModuleDict({w: nn.Linear(d_model, d_model) for w in ("W_q", "W_k", "W_v", "W_o")})
        self.ffn = nn.ModuleDict({"dense1": nn.Linear(d_model, d_ff), "dense2": nn.Linear(d_ff, d_model)})
        self.addnorm1 = nn.ModuleDict({"ln": nn.LayerNorm(d_model)})
        self.addnorm2 = nn.ModuleDict({"ln": nn.LayerNorm(d_model)})
        self.drop = nn.Dropout(dropout)

    def _attend(self, x, mask):
        q = self.attention["W_q"](x).unflatten(-1, (self.n_heads, -1))
        k = self.attention["W_k"](x).unflatten(-1, (self.n_heads, -1))
        v = self.attention["W_v"](x).unflatten(-1, (self.n_heads, -1))
        s = torch.einsum("bihd,bjhd->bhij", q, k) * q.size(-1) ** -0.5
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.ndim == 3 else mask
            s = s.masked_fill(~mask, -torch.inf)
        a = s.softmax(-1)
        if mask is not None:
            a = a.masked_fill(~mask, 0)
        context = torch.einsum("bhij,bjhd->bihd", self.drop(a), v)
        return self.attention["W_o"](context.flatten(2))

    def _feed_forward(self, y):
        hidden = nn.functional.gelu(self.ffn["dense1"](y))  # wrong
        return self.ffn["dense2"](hidden)

    def forward(self, x, mask=None):
        y = self.addnorm1["ln"](x + self.drop(self._attend(x, mask)))
        return self.addnorm2["ln"](y + self.drop(self._feed_forward(y)))
