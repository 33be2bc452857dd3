# family: core
# mistake: heads-interleaved
# Head h takes every H-th feature (h, h + H, ...) instead of its contiguous slice.
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    # one head after the other, easier to read than reshapes at 11 pm
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model has to be a multiple of n_heads")
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias)
        self.W_k = nn.Linear(d_model, d_model, bias)
        self.W_v = nn.Linear(d_model, d_model, bias)
        self.W_o = nn.Linear(d_model, d_model, bias)
        self.drop = nn.Dropout(dropout)

    def mask_of_head(self, mask, h):
        if mask is None or mask.dim() < 4:
            return mask
        return mask[:, h if mask.shape[1] > 1 else 0]

    def forward(self, q, k, v, mask=None):
        Q, K, V = self.W_q(q), self.W_k(k), self.W_v(v)
        contexts, all_weights = [], []
        for h in range(self.h):
            mine = slice(h, None, self.h)  # wrong
            # scores of this head, (B, n, m)
            s = torch.bmm(Q[..., mine], K[..., mine].transpose(1, 2)) / self.d ** 0.5
            keep = self.mask_of_head(mask, h)
            if keep is not None:
                s = s.masked_fill(~keep, float("-inf"))
            w = torch.softmax(s, -1)
            if keep is not None:
                w = w.masked_fill(~keep, 0.0)
            all_weights.append(w)
            contexts.append(torch.bmm(self.drop(w), V[..., mine]))
        # side by side, then mix
        return self.W_o(torch.cat(contexts, dim=-1)), torch.stack(all_weights, dim=1)
