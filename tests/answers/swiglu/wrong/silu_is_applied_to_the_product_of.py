# family: core
# mistake: silu-of-the-product
# Silu is applied to the product of gate and value instead of to the gate.
import torch.nn as nn
import torch.nn.functional as F


class SwiGLU(nn.Module):
    # w2(silu(w1 x) * w3 x)
    def __init__(self, d_model, d_ff):
        super().__init__()
        widths = {"w1": (d_model, d_ff), "w2": (d_ff, d_model), "w3": (d_model, d_ff)}
        for name, (fan_in, fan_out) in widths.items():
            self.add_module(name, nn.Linear(fan_in, fan_out, bias=False))

    def forward(self, x):
        return self.w2(F.silu(self.w1(x) * self.w3(x)))  # wrong
