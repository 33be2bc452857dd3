import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """Each head on its own, on slices of the projections' weights."""

    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        self.d_head, rest = divmod(d_model, n_heads)
        if rest:
            raise ValueError("d_model % n_heads != 0")
        self.n_heads = n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))
        self.dropout = nn.Dropout(p=dropout)

    def slice_of(self, layer, x, h):
        rows = slice(h * self.d_head, (h + 1) * self.d_head)
        y = x @ layer.weight[rows].T
        return y if layer.bias is None else y + layer.bias[rows]

    def forward(self, q, k, v, mask=None):
        outs, atts = [], []
        for h in range(self.n_heads):
            qh, kh, vh = self.slice_of(self.W_q, q, h), self.slice_of(self.W_k, k, h), self.slice_of(self.W_v, v, h)
            scores = qh @ kh.mT / self.d_head**0.5
            keep = mask
            if mask is not None and mask.dim() == 4:
                keep = mask[:, h if mask.size(1) > 1 else 0]
            if keep is not None:
                scores = scores.masked_fill(~keep, float("-inf"))
            att = scores.softmax(dim=-1)
            if keep is not None:
                att = att.masked_fill(~keep, 0.0)
            atts.append(att)
            outs.append(self.dropout(att) @ vh)
        return self.W_o(torch.cat(outs, dim=-1)), torch.stack(atts, dim=1)
