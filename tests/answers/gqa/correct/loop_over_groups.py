import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    """One group after the other: its queries in one batch of products with its only key head."""

    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if n_heads < 1 or n_kv_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"{n_heads} heads, width {d_model}")
        if n_heads % n_kv_heads != 0:
            raise ValueError(f"{n_heads} heads in {n_kv_heads} groups")
        self.H, self.G = n_heads, n_kv_heads
        d = d_model // n_heads
        for name, width in (("W_q", d_model), ("W_k", d * n_kv_heads), ("W_v", d * n_kv_heads), ("W_o", d_model)):
            setattr(self, name, nn.Linear(d_model, width, bias=bias))

    def forward(self, x, mask=None):
        heads = self.W_q(x).chunk(self.H, dim=-1)
        keys, values = self.W_k(x).chunk(self.G, dim=-1), self.W_v(x).chunk(self.G, dim=-1)
        share = self.H // self.G
        contexts, all_weights = [], []
        for g in range(self.G):
            k, v = keys[g].unsqueeze(1), values[g].unsqueeze(1)
            q = torch.stack(heads[g * share : (g + 1) * share], dim=1)
            s = q @ k.mT / q.shape[-1] ** 0.5
            keep = mask
            if mask is not None:
                if mask.dim() == 3:
                    keep = mask[:, None]
                elif mask.dim() == 4 and mask.shape[1] != 1:
                    keep = mask[:, g * share : (g + 1) * share]
                s = s.masked_fill(keep.logical_not(), -torch.inf)
            w = torch.softmax(s, dim=-1)
            if keep is not None:
                w = w.masked_fill(keep.logical_not(), 0)
            contexts.extend((w @ v).unbind(1))
            all_weights.append(w)
        return self.W_o(torch.cat(contexts, dim=-1)), torch.cat(all_weights, dim=1)
