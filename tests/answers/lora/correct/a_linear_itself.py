"""Is a linear layer, as in loralib, with two parameters more."""
import math

import torch
from torch import nn
from torch.nn import functional as F


class LoRALinear(nn.Linear):
    def __init__(self, base, r, alpha, dropout=0.0):
        if r < 1:
            raise ValueError("r")
        super().__init__(
            base.in_features,
            base.out_features,
            bias=base.bias is not None,
            device=base.weight.device,
            dtype=base.weight.dtype,
        )
        self.load_state_dict(base.state_dict())
        for p in self.parameters():
            p.requires_grad = False
        self.r, self.scaling, self.lora_dropout = r, alpha / r, nn.Dropout(p=dropout)
        self.A = nn.Parameter(self.weight.new_zeros((r, self.in_features)))
        self.B = nn.Parameter(self.weight.new_zeros((self.out_features, r)))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.merged = False

    def merge(self):
        if not self.merged:
            self.weight.data += (self.B.data @ self.A.data) * self.scaling
        self.merged = True

    def unmerge(self):
        if self.merged:
            self.weight.data -= (self.B.data @ self.A.data) * self.scaling
        self.merged = False

    def forward(self, x):
        result = super().forward(x)
        if not self.merged:
            after_a = self.lora_dropout(x) @ self.A.transpose(0, 1)
            result += (after_a @ self.B.transpose(0, 1)) * self.scaling
        return result
