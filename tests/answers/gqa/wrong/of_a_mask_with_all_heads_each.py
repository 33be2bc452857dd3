# family: mask
# mistake: none
# Of a mask with all heads each group takes that of its first head for all of its heads.
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    # einsum: b batch, g group, r head in its group, i query, j key, d width

    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if n_heads < 1 or n_kv_heads < 1 or d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError("heads do not divide what they should")
        self.g, self.r, self.d = n_kv_heads, n_heads // n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=bias)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def _grouped(self, mask, shape, device):
        if mask is None:
            return torch.ones((), dtype=torch.bool, device=device).expand(shape)
        if mask.dim() == 2:
            mask = mask[None]
        if mask.dim() == 3:
            mask = mask[:, None]
        if mask.shape[1] == 1:
            mask = mask[:, :, None]
        else:
            mask = mask[:, :: self.r, None]  # wrong
        return mask.expand(shape)

    def forward(self, x, mask=None):
        B, S, _ = x.shape
        q = self.W_q(x).reshape(B, S, self.g, self.r, self.d)
        k = self.W_k(x).reshape(B, S, self.g, self.d)
        v = self.W_v(x).reshape(B, S, self.g, self.d)
        scores = torch.einsum("bigrd,bjgd->bgrij", q * self.d**-0.5, k)
        seen = self._grouped(mask, scores.shape, x.device)
        blind = ~seen.any(-1, keepdim=True)
        scores = torch.where(seen | blind, scores, -torch.inf)
        weights = torch.where(seen, scores.softmax(-1), 0.0)
        context = torch.einsum("bgrij,bjgd->bigrd", weights, v).reshape(B, S, -1)
        return self.W_o(context), weights.flatten(1, 2)
