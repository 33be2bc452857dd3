# kata: positional-encoding
# names: base-ignored, too-long-not-refused
import torch
from torch import nn

def sinusoidal_encoding(max_len, d_model, base=10000.0):
    P = torch.zeros((1, max_len, d_model))
    X = torch.arange(max_len, dtype=torch.float32).reshape(  # wrong
        -1, 1) / torch.pow(10000, torch.arange(
        0, d_model, 2, dtype=torch.float32) / d_model)
    P[:, :, 0::2] = torch.sin(X)
    P[:, :, 1::2] = torch.cos(X)
    return P[0]

class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        # Create a long enough P
        self.pe = sinusoidal_encoding(max_len, d_model)  # wrong

    def forward(self, X):
        X = X + self.pe[:X.shape[1], :].to(X.device)  # wrong
        return self.dropout(X)
