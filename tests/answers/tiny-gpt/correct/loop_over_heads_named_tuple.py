from typing import NamedTuple, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class Output(NamedTuple):
    logits: Tensor
    loss: Optional[Tensor] = None


class TinyGPT(nn.Module):
    class Block(nn.Module):
        def __init__(self, d_model, n_heads):
            super().__init__()
            self.n_heads = n_heads
            self.norm1 = nn.LayerNorm(d_model)
            self.norm2 = nn.LayerNorm(d_model)
            self.attention = nn.ModuleDict({name: nn.Linear(d_model, d_model) for name in ("W_q", "W_k", "W_v", "W_o")})
            self.ffn = nn.ModuleDict(
                {"dense1": nn.Linear(d_model, 4 * d_model), "dense2": nn.Linear(4 * d_model, d_model)}
            )

        def attend(self, x):
            a = self.attention
            q, k, v = a["W_q"](x), a["W_k"](x), a["W_v"](x)
            width = x.size(-1) // self.n_heads
            hidden = torch.ones(x.size(1), x.size(1), device=x.device).triu(1) > 0
            heads = []
            for h in range(self.n_heads):
                part = slice(h * width, (h + 1) * width)
                s = q[..., part] @ k[..., part].mT * width**-0.5
                heads.append(s.masked_fill(hidden, -torch.inf).softmax(-1) @ v[..., part])
            return a["W_o"](torch.cat(heads, dim=-1))

        def forward(self, x):
            x = x + self.attend(self.norm1(x))
            return x + self.ffn["dense2"](F.gelu(self.ffn["dense1"](self.norm2(x))))

    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, pad_id=0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads")
        self.pad_id = pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([self.Block(d_model, n_heads) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens, targets=None):
        if tokens.shape[1] > self.position_embedding.num_embeddings:
            raise ValueError("too many tokens")
        where = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
        x = self.token_embedding(tokens) + self.position_embedding(where)
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.token_embedding.weight)
        if targets is None:
            return Output(logits)
        shifted = torch.full_like(targets, self.pad_id)
        shifted[:, :-1] = targets[:, 1:]
        return Output(logits, F.cross_entropy(logits.transpose(1, 2), shifted, ignore_index=self.pad_id))
