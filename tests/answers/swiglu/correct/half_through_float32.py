import torch
from torch import nn
from torch.nn import functional as F


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        for name in ("w1", "w3"):
            setattr(self, name, nn.Linear(d_model, d_ff, bias=False))
        self.w2 = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        work = torch.promote_types(x.dtype, torch.float32)
        h = x.to(work)
        gate = F.linear(h, self.w1.weight.to(work))
        hidden = F.silu(gate, inplace=False) * F.linear(h, self.w3.weight.to(work))
        return F.linear(hidden, self.w2.weight.to(work)).to(x.dtype)
