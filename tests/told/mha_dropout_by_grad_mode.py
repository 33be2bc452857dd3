# kata: mha
# names: gradients
import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        self.d_head, rest = divmod(d_model, n_heads)
        if rest:
            raise ValueError("d_model must be a multiple of n_heads")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def _fold(self, x: Tensor) -> Tensor:
        B, L, _ = x.shape
        return x.reshape(B, L, self.n_heads, self.d_head).transpose(1, 2).reshape(B * self.n_heads, L, self.d_head)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        B, n, _ = q.shape
        m = k.shape[1]
        qh, kh, vh = self._fold(self.W_q(q)), self._fold(self.W_k(k)), self._fold(self.W_v(v))
        work = torch.float64 if qh.dtype == torch.float64 else torch.float32
        zero = torch.zeros((), dtype=work, device=q.device)
        scores = torch.baddbmm(zero, qh.to(work), kh.to(work).transpose(1, 2), beta=0, alpha=self.d_head ** -0.5)
        scores = scores.view(B, self.n_heads, n, m)
        if mask is not None:
            hidden = ~(mask.unsqueeze(-3) if mask.dim() == 3 else mask)
            scores = scores.masked_fill(hidden, -float("inf"))
            weights = torch.softmax(scores, dim=-1).masked_fill(hidden, 0)
        else:
            weights = torch.softmax(scores, dim=-1)
        weights = weights.to(vh.dtype)
        dropped = self.dropout(weights) if torch.is_grad_enabled() else weights  # wrong
        context = torch.bmm(dropped.view(B * self.n_heads, n, m), vh)
        context = context.view(B, self.n_heads, n, self.d_head).transpose(1, 2).reshape(B, n, -1)
        return self.W_o(context), weights
