import torch
import torch.nn as nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        tokens = x.reshape(-1, x.shape[-1])
        gate, up = torch.stack([self.w1.weight, self.w3.weight]).matmul(tokens.T).unbind(0)
        hidden = nn.functional.silu(gate) * up
        return (self.w2.weight @ hidden).T.reshape(x.shape)
