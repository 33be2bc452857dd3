# family: core
# mistake: eps-outside-the-root
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x, y):
        z = x + self.dropout(y)
        mean, std = z.mean(-1, keepdim=True), z.std(-1, keepdim=True, unbiased=False)
        return (z - mean) / (std + self.ln.eps) * self.ln.weight + self.ln.bias
