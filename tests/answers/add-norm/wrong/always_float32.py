# family: dtype
# mistake: none
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout=0.0):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, y):
        h = x.float() + self.dropout(y.float())
        w, b = self.ln.weight.float(), self.ln.bias.float()
        return nn.functional.layer_norm(h, h.shape[-1:], w, b).to(x.dtype)
