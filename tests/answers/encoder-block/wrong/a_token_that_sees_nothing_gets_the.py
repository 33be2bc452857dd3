# family: mask
# mistake: uniform-rows
# A token that sees nothing gets the average of all values, its weights are not put to 0.
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model, n_heads, dropout):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)  # the same in all heads
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        contexts = []
        # one head after the other, I can read that better
        for h in range(self.n_heads):
            part = slice(h * self.d_head, (h + 1) * self.d_head)
            scores = q[..., part] @ k[..., part].transpose(1, 2) / self.d_head**0.5
            if mask is not None:
                own = mask
                if mask.dim() == 4:
                    own = mask[:, h] if mask.shape[1] > 1 else mask[:, 0]
                # no row may be hidden as a whole, softmax would give NaN
                blind = ~own.any(dim=-1, keepdim=True)
                scores = scores.masked_fill(~own, float("-inf")).masked_fill(blind, 0.0)
            weights = torch.softmax(scores, dim=-1)  # wrong
            contexts.append(self.dropout(weights) @ v[..., part])
        return self.W_o(torch.cat(contexts, dim=-1))


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.relu = nn.ReLU()
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(self.relu(self.dense1(x)))


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(d_model)

    def forward(self, x, y):
        return self.ln(x + self.dropout(y))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError("n_heads does not divide d_model")
        self.attention = Attention(d_model, n_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x, mask=None):
        y = self.addnorm1(x, self.attention(x, mask))
        return self.addnorm2(y, self.ffn(y))
