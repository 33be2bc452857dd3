# family: mask
# mistake: none
# Blocks of 64 keys are joined by the maximum of each alone: where later scores are far lower, exp overflows.
import torch
from torch import Tensor, nn


class SelfAttention(nn.Module):
    def __init__(self, d_model: int, d_k: int, d_v: int | None = None, bias: bool = False) -> None:
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_model, d_k, bias=bias)
        self.W_v = nn.Linear(d_model, d_k if d_v is None else d_v, bias=bias)
        self.scale = d_k**-0.5

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        q, k, v = self.W_q(x) * self.scale, self.W_k(x), self.W_v(x)
        B, S, _ = x.shape
        see = torch.ones(B, S, S, dtype=torch.bool, device=x.device) if mask is None else mask.expand(B, S, S)
        low = torch.finfo(q.dtype).min
        s = q @ k.mT
        top, total = q.new_full((B, S, 1), low), q.new_zeros(B, S, 1)
        acc = torch.zeros_like(v)
        for j in range(0, S, 64):
            sj, mj = s[..., j : j + 64], see[..., j : j + 64]
            new = sj.detach().masked_fill(~mj, low).amax(-1, keepdim=True)
            new = torch.where(mj.any(-1, keepdim=True), new, top)  # wrong
            e = (sj - new).masked_fill(~mj, 0).exp().masked_fill(~mj, 0)
            fade = (top - new).exp()
            total, acc, top = total * fade + e.sum(-1, keepdim=True), acc * fade + e @ v[:, j : j + 64], new
        total = total.masked_fill(total == 0, 1)
        w = (s - top).masked_fill(~see, 0).exp().masked_fill(~see, 0) / total
        return acc / total, w
