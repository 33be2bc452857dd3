# family: core
# mistake: none
import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    """Keeps the last gate, to look at it later, and uses it again for an input of the same shape."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)
        self.gates = {}

    def forward(self, x):
        if x.shape not in self.gates:
            self.gates[x.shape] = F.silu(self.w1(x))
        return self.w2(self.gates[x.shape] * self.w3(x))
