# family: core
# mistake: cached-keys-scaled
# The keys are scaled before they go into the cache, so it does not hold W_k(x).
import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    """Causal attention that goes on where it stopped."""

    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if n_heads <= 0 or d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.H, self.dh = n_heads, d_model // n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))

    def forward(self, x, cache=None, padding_mask=None):
        B, n, d = x.shape
        q = self.W_q(x).reshape(B, n, self.H, self.dh).permute(0, 2, 1, 3)
        k = self.W_k(x).reshape(B, n, self.H, self.dh).permute(0, 2, 1, 3)
        v = self.W_v(x).reshape(B, n, self.H, self.dh).permute(0, 2, 1, 3)
        k = k / self.dh**0.5  # wrong
        if cache is not None:
            old_k, old_v = cache
            k, v = torch.cat([old_k, k], 2), torch.cat([old_v, v], 2)
        T = k.shape[2]
        # query i is token T - n + i
        i = torch.arange(T - n, T, device=x.device)
        j = torch.arange(T, device=x.device)
        seen = (j[None, :] <= i[:, None]).expand(B, 1, n, T)
        if padding_mask is not None:
            seen = seen & padding_mask[:, None, None, :]
        s = torch.einsum("bhid,bhjd->bhij", q, k)
        s = torch.where(seen, s, -torch.inf)
        s = torch.where(seen.any(-1, keepdim=True), s, 0.0)
        w = torch.where(seen, torch.softmax(s, dim=-1), 0.0)
        out = torch.einsum("bhij,bhjd->bihd", w, v).reshape(B, n, d)
        return self.W_o(out), (k, v)
