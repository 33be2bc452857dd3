# family: grad
# mistake: padding-idx
# Padding_idx in the token embedding, the pad token gets no gradient where it is read.
import torch
from torch import nn
from torch.nn import functional as F


class Attn(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        q = self.W_q(x).unflatten(-1, (self.h, -1))
        k = self.W_k(x).unflatten(-1, (self.h, -1))
        v = self.W_v(x).unflatten(-1, (self.h, -1))
        t = torch.arange(x.size(1), device=x.device)
        s = torch.einsum("bihd,bjhd->bhij", q, k) * q.size(-1) ** -0.5
        w = s.masked_fill(t[None, :] > t[:, None], -torch.inf).softmax(-1)
        return self.W_o(torch.einsum("bhij,bjhd->bihd", w, v).flatten(2))


class FFN(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        return self.dense2(F.gelu(self.dense1(x)))


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attention, self.ffn = Attn(d, h), FFN(d)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, pad_id=0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model % n_heads")
        self.pad_id = pad_id
        self.token_embedding = nn.Embedding(vocab_size, d_model, padding_idx=pad_id)  # wrong
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens, targets=None):
        S = tokens.size(1)
        if S > self.position_embedding.num_embeddings:
            raise ValueError(f"{S} tokens are too many")
        x = self.token_embedding(tokens) + self.position_embedding.weight[:S]
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.token_embedding.weight)
        if targets is None:
            return logits, None
        pred, want = logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten()
        return logits, F.cross_entropy(pred, want, ignore_index=self.pad_id)
