# family: core
# mistake: gelu-approximated
# The feed-forward network uses the tanh approximation of the GELU instead of the exact one.
import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Heads(nn.Module):
    def __init__(self, d: int, h: int) -> None:
        super().__init__()
        self.h = h
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (W(x).unflatten(-1, (self.h, -1)) for W in (self.W_q, self.W_k, self.W_v))
        a = torch.einsum("bnhd,bmhd->bhnm", q, k) / q.shape[-1] ** 0.5
        t = torch.arange(x.shape[1], device=x.device)
        a = a.masked_fill(t[None, :] > t[:, None], -torch.inf).softmax(-1)
        return self.W_o(torch.einsum("bhnm,bmhd->bnhd", a, v).flatten(-2))


class FFN(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d, 4 * d)
        self.dense2 = nn.Linear(4 * d, d)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense2(F.gelu(self.dense1(x), approximate="tanh"))  # wrong


class Block(nn.Module):
    def __init__(self, d: int, h: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attention, self.ffn = Heads(d, h), FFN(d)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class TinyGPT(nn.Module):
    def __init__(
        self, vocab_size: int, d_model: int, n_heads: int, n_layers: int, max_len: int, pad_id: int = 0
    ) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"{n_heads} heads, {d_model} features")
        self.pad_id = pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        S = tokens.shape[1]
        if S > self.position_embedding.num_embeddings:
            raise ValueError("text too long")
        x = self.token_embedding(tokens) + self.position_embedding.weight[:S]
        for block in self.blocks:
            x = block(x)
        logits = self.norm(x) @ self.token_embedding.weight.T
        if targets is None:
            return logits, None
        wide = logits if logits.dtype == torch.float64 else logits.float()
        loss = F.cross_entropy(wide[:, :-1].flatten(0, 1), targets[:, 1:].flatten(), ignore_index=self.pad_id)
        return logits, loss.to(logits.dtype)
