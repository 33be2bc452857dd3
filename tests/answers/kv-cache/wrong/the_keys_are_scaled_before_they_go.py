# family: core
# mistake: cached-keys-scaled
# The keys are scaled before they go to the cache, they should stay as they are.
import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.H, self.D = n_heads, d_model // n_heads
        for name in ["W_q", "W_k", "W_v", "W_o"]:
            self.add_module(name, nn.Linear(d_model, d_model, bias=bias))

    def forward(self, x, cache=None, padding_mask=None):
        B, n, _ = x.shape
        q = self.W_q(x).reshape(B, n, self.H, self.D).permute(0, 2, 1, 3)
        k = self.W_k(x).reshape(B, n, self.H, self.D).permute(0, 2, 1, 3)
        v = self.W_v(x).reshape(B, n, self.H, self.D).permute(0, 2, 1, 3)
        k = k / self.D**0.5  # wrong
        if cache is not None:
            k = torch.cat((cache[0], k), dim=2)
            v = torch.cat((cache[1], v), dim=2)
        T = k.shape[2]
        hidden = torch.ones(n, T, dtype=torch.bool, device=x.device).triu(T - n + 1)
        if padding_mask is not None:
            hidden = hidden | ~padding_mask[:, None, None, :]
        scores = q @ k.transpose(2, 3)
        w = scores.masked_fill(hidden, float("-inf")).softmax(-1).masked_fill(hidden, 0.0)
        y = (w @ v).permute(0, 2, 1, 3).reshape(B, n, -1)
        return self.W_o(y), (k, v)
