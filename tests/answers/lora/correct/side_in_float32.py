"""As QLoRA has it: A and B in float32 at least, whatever the base is, with casts around them."""
import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha, dropout=0.0):
        super().__init__()
        if r < 1:
            raise ValueError("r must be 1 or more")
        self.base = base.requires_grad_(False)
        dtype = torch.promote_types(base.weight.dtype, torch.float32)
        self.A = nn.Parameter(torch.randn(r, base.in_features, dtype=dtype, device=base.weight.device) / r)
        self.B = nn.Parameter(torch.zeros(base.out_features, r, dtype=dtype, device=base.weight.device))
        self.scale, self.merged = alpha / r, False
        self.dropout = nn.Dropout(dropout) if dropout else nn.Identity()

    def delta(self):
        return (self.scale * (self.B @ self.A)).to(self.base.weight.dtype)

    def merge(self):
        self._set(True)

    def unmerge(self):
        self._set(False)

    @torch.no_grad()
    def _set(self, merged):
        if merged != self.merged:
            self.base.weight.add_(self.delta(), alpha=1 if merged else -1)
            self.merged = merged

    def forward(self, x):
        y = self.base(x)
        if self.merged:
            return y
        side = self.dropout(x).to(self.A.dtype) @ self.A.mT @ self.B.mT
        return y + (self.scale * side).to(y.dtype)
