import torch.nn.functional as F
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x, y):
        y = F.dropout(y, self.p, training=self.training)
        return F.layer_norm(x + y, x.shape[-1:], self.ln.weight, self.ln.bias)
