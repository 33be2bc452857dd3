# family: core
# mistake: gelu-approximated
# The tanh approximation of GELU, the exact one is asked for.
import torch
from torch import Tensor, nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, d: int, h: int) -> None:
        super().__init__()
        self.h = h
        self.norm1 = nn.LayerNorm(d)
        self.attention = nn.ModuleDict({name: nn.Linear(d, d) for name in ("W_q", "W_k", "W_v", "W_o")})
        self.norm2 = nn.LayerNorm(d)
        self.ffn = nn.ModuleDict({"dense1": nn.Linear(d, 4 * d), "dense2": nn.Linear(4 * d, d)})

    def attend(self, x: Tensor) -> Tensor:
        B, S, d = x.shape
        a = self.attention
        q, k, v = (a[w](x).reshape(B, S, self.h, d // self.h).transpose(1, 2) for w in ("W_q", "W_k", "W_v"))
        scores = (q @ k.mT) / (d // self.h) ** 0.5
        causal = torch.ones(S, S, device=x.device, dtype=torch.bool).tril()
        weights = scores.masked_fill(causal.logical_not(), float("-inf")).softmax(-1)
        return a["W_o"]((weights @ v).transpose(1, 2).reshape(B, S, d))

    def think(self, x: Tensor) -> Tensor:
        return self.ffn["dense2"](F.gelu(self.ffn["dense1"](x), approximate="tanh"))  # wrong

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attend(self.norm1(x))
        return x + self.think(self.norm2(x))


class TinyGPT(nn.Module):
    def __init__(
        self, vocab_size: int, d_model: int, n_heads: int, n_layers: int, max_len: int, pad_id: int = 0
    ) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.max_len = max_len
        self.pad_id = pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        S = tokens.shape[1]
        if S > self.max_len:
            raise ValueError(f"{S} > {self.max_len}")
        positions = torch.arange(S, device=tokens.device)
        x = self.token_embedding(tokens) + self.position_embedding(positions)[None]
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.token_embedding.weight)
        if targets is None:
            return logits, None
        loss = F.cross_entropy(
            logits[:, :-1].reshape(-1, logits.size(-1)), targets[:, 1:].reshape(-1), ignore_index=self.pad_id
        )
        return logits, loss
