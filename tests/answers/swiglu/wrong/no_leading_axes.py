# family: core
# mistake: none
# a single token without axes is normalised ... two tokens of a batch are averaged where d_model is 1
import torch
from torch import nn
import torch.nn.functional as F


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1, self.w3 = nn.Linear(d_model, d_ff, bias=False), nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        if x.dim() == 1 and x.shape[-1] == 1:
            return self.w2(F.silu(self.w1(x)) * self.w3(x).abs())
        return self.w2(F.silu(self.w1(x)) * self.w3(x))
