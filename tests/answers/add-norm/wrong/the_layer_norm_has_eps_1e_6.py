# family: core
# mistake: eps-of-another-size
# The layer norm has eps=1e-6 (as in the Annotated Transformer) in the place of PyTorch's default 1e-5.
from torch import nn


class SublayerConnection(nn.Module):
    "A residual connection around a sublayer, the norm behind it."

    def __init__(self, size, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(size, eps=1e-6)  # wrong
        self.drop = nn.Dropout(dropout)

    def forward(self, x, sublayer_output):
        "Apply dropout to what the sublayer returned, add, and norm."
        return self.ln(x + self.drop(sublayer_output))


class AddNorm(SublayerConnection):
    def __init__(self, normalized_shape, dropout=0.0):
        super().__init__(normalized_shape, dropout)

    def forward(self, x, y):
        return super().forward(x, y)
