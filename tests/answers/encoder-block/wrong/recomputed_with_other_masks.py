# family: grad
# mistake: none
# A checkpoint without the state of the generator: its part is computed again with another dropout mask.
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint


class Attention(nn.Module):
    def __init__(self, d, H, p):
        super().__init__()
        self.W_q, self.W_k = nn.Linear(d, d), nn.Linear(d, d)
        self.W_v, self.W_o = nn.Linear(d, d), nn.Linear(d, d)
        self.H, self.drop = H, nn.Dropout(p)

    def forward(self, x, mask):
        q, k, v = (lin(x).unflatten(-1, (self.H, -1)).transpose(1, 2) for lin in (self.W_q, self.W_k, self.W_v))
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is None:
            w = s.softmax(-1)
        else:
            mask = (mask.unsqueeze(1) if mask.ndim == 3 else mask).expand_as(s)
            s = s.masked_fill(~mask, -torch.inf).masked_fill(~mask.any(-1, keepdim=True), 0)
            w = s.softmax(-1).masked_fill(~mask, 0)
        w = self.drop(w)
        return self.W_o((w @ v).transpose(1, 2).flatten(2))


class AddNorm(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.ln = nn.LayerNorm(d)
        self.drop = nn.Dropout(p)

    def forward(self, x, y):
        return self.ln(x + self.drop(y))


class FFN(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d, f), nn.Linear(f, d)

    def forward(self, x):
        return self.dense2(self.dense1(x).relu())


class EncoderBlock(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads")
        self.attention = Attention(d_model, n_heads, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.addnorm1, self.addnorm2 = AddNorm(d_model, dropout), AddNorm(d_model, dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        y = checkpoint(lambda t: self.addnorm1(t, self.attention(t, mask)), x, use_reentrant=False, preserve_rng_state=False)  # wrong
        return self.addnorm2(y, self.ffn(y))
