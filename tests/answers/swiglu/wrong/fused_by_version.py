# family: dtype
# mistake: none
"""Fuses both weights once, and anew when autograd has counted a change."""
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)
        self._key = None
        self._fused = None

    def _gate_and_value(self) -> Tensor:
        a, b = self.w1.weight, self.w3.weight
        key = (a._version, b._version, a.data_ptr(), b.data_ptr(), a.dtype, a.device)
        if key != self._key:
            self._fused = torch.cat([a.detach(), b.detach()])
            self._key = key
        return self._fused

    def forward(self, x: Tensor) -> Tensor:
        if not torch.is_grad_enabled():
            gate, value = F.linear(x, self._gate_and_value()).chunk(2, dim=-1)
            return self.w2(F.silu(gate) * value)
        return self.w2(F.silu(self.w1(x)) * self.w3(x))
