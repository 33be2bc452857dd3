"""Both branches in one matrix product, cut in halves afterwards."""
import torch
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)
        self.act = nn.SiLU()

    def forward(self, x):
        both = x @ torch.cat([self.w1.weight, self.w3.weight], dim=0).T
        gate, up = both.chunk(2, dim=-1)
        return self.w2(self.act(gate) * up)
