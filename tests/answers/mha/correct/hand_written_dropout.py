import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be a multiple of n_heads")
        self.n_heads, self.rate = n_heads, dropout
        self.W_q = nn.Linear(d_model, d_model, bias)
        self.W_k = nn.Linear(d_model, d_model, bias)
        self.W_v = nn.Linear(d_model, d_model, bias)
        self.W_o = nn.Linear(d_model, d_model, bias)

    def drop(self, w: Tensor) -> Tensor:
        if not self.training or self.rate == 0:
            return w
        if self.rate == 1:
            return torch.zeros_like(w)
        kept = torch.rand(w.shape, device=w.device) >= self.rate
        return w * kept / (1 - self.rate)

    def heads(self, x: Tensor) -> Tensor:
        b, s, d = x.shape
        return x.reshape(b, s, self.n_heads, d // self.n_heads).transpose(1, 2)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        Q, K, V = self.heads(self.W_q(q)), self.heads(self.W_k(k)), self.heads(self.W_v(v))
        scores = (Q / Q.size(-1) ** 0.5) @ K.mT
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            if mask.dim() == 3:
                mask = mask[:, None, :, :]
            empty = mask.logical_not().all(dim=-1, keepdim=True)
            weights = torch.softmax(scores.masked_fill(~(mask | empty), -torch.inf), dim=-1) * ~empty
        context = self.drop(weights) @ V
        context = torch.movedim(context, 1, 2).reshape(q.shape)
        return self.W_o(context), weights
