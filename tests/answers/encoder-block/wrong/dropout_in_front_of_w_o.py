# family: core
# mistake: context-dropped
# Dropout acts on the context before W_o, and not on what W_o returns.
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class EncoderBlock(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{n_heads} heads do not divide {d_model}")
        self.attention = nn.ModuleDict({name: nn.Linear(d_model, d_model) for name in ("W_q", "W_k", "W_v", "W_o")})
        self.ffn = nn.ModuleDict({"dense1": nn.Linear(d_model, d_ff), "dense2": nn.Linear(d_ff, d_model)})
        self.addnorm1 = nn.ModuleDict({"ln": nn.LayerNorm(d_model)})
        self.addnorm2 = nn.ModuleDict({"ln": nn.LayerNorm(d_model)})
        self.n_heads, self.rate = n_heads, dropout

    def _drop(self, t: Tensor) -> Tensor:
        return F.dropout(t, p=self.rate, training=self.training)

    def _attend(self, x: Tensor, mask: Tensor | None) -> Tensor:
        batch, length, width = x.shape
        H, e = self.n_heads, width // self.n_heads

        def fold(name):
            t = F.linear(x, self.attention[name].weight, self.attention[name].bias)
            return t.unflatten(-1, (H, e)).transpose(1, 2).flatten(0, 1)

        s = torch.bmm(fold("W_q"), fold("W_k").mT).div(e**0.5).view(batch, H, length, length)
        if mask is None:
            a = F.softmax(s, -1)
        else:
            while mask.ndim < 4:
                mask = mask.unsqueeze(-3)
            mask = mask.expand(batch, H, length, length)
            s = torch.where(mask, s, -torch.inf)
            blind = ~mask.any(-1, keepdim=True)
            a = torch.where(mask, F.softmax(torch.where(blind, 0.0, s), -1), 0.0)
        c = torch.bmm(self._drop(a).flatten(0, 1), fold("W_v"))
        c = self._drop(c.view(batch, H, length, e).transpose(1, 2).flatten(2))  # wrong
        return F.linear(c, self.attention["W_o"].weight, self.attention["W_o"].bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.addnorm1["ln"](x + self._attend(x, mask))
        inner = self.ffn["dense2"](F.relu(self.ffn["dense1"](x)))
        return self.addnorm2["ln"](x + self._drop(inner))
