# family: core
# mistake: none
# A hidden token is kept from asking, too: a mask of keys hides the row of its query as well.
import torch
import torch.nn.functional as F
from torch import nn


class Bag(nn.Module):
    """A named bag of layers."""

    def __init__(self, **layers):
        super().__init__()
        for name, layer in layers.items():
            self.add_module(name, layer)


def four_axes(mask, S, device):
    if mask is None:
        return torch.ones(1, 1, S, S, dtype=torch.bool, device=device)
    while mask.dim() < 3:
        mask = mask[None]
    if mask.dim() == 3:
        mask = mask[:, None]
    mask = mask.expand(-1, -1, S, S)
    return mask


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is no multiple of n_heads={n_heads}")
        lin = lambda: nn.Linear(d_model, d_model)
        self.H, self.p = n_heads, dropout
        self.attention = Bag(W_q=lin(), W_k=lin(), W_v=lin(), W_o=lin())
        self.ffn = Bag(dense1=nn.Linear(d_model, d_ff), dense2=nn.Linear(d_ff, d_model))
        self.addnorm1 = Bag(ln=nn.LayerNorm(d_model))
        self.addnorm2 = Bag(ln=nn.LayerNorm(d_model))

    def _drop(self, t):
        return F.dropout(t, self.p, self.training)

    def _attend(self, x, mask):
        B, S, d = x.shape
        a = self.attention
        q, k, v = (w(x).view(B, S, self.H, -1) for w in (a.W_q, a.W_k, a.W_v))
        s = torch.einsum("bnhd,bmhd->bhnm", q, k) * (d // self.H) ** -0.5
        seen = four_axes(mask, S, x.device)
        seen = seen & seen.any(dim=-2).unsqueeze(-1)  # wrong
        s = s.masked_fill(~(seen | ~seen.any(-1, keepdim=True)), -torch.inf)
        w = self._drop(s.softmax(-1).masked_fill(~seen, 0.0))
        return a.W_o(torch.einsum("bhnm,bmhd->bnhd", w, v).reshape(B, S, d))

    def forward(self, x, mask=None):
        y = self.addnorm1.ln(x + self._drop(self._attend(x, mask)))
        f = self.ffn.dense2(F.relu(self.ffn.dense1(y)))
        return self.addnorm2.ln(y + self._drop(f))
