# family: core
# mistake: encoder-reads-padding
# The padding mask is not handed on to the encoder's layers, only to the decoder.
import torch
from torch import Tensor, einsum, nn

LayerCache = tuple[Tensor, Tensor]


class Attn(nn.Module):
    def __init__(self, d: int, h: int, p: float) -> None:
        super().__init__()
        self.h = h
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d) for _ in range(4))
        self.drop = nn.Dropout(p)

    def heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.h, -1)).transpose(1, 2)

    def forward(
        self, x: Tensor, y: Tensor, keep: Tensor | None, cache: LayerCache | None = None
    ) -> tuple[Tensor, LayerCache]:
        q, k, v = self.heads(self.W_q(x)), self.heads(self.W_k(y)), self.heads(self.W_v(y))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        s = einsum("bhnd,bhmd->bhnm", q, k) / q.shape[-1] ** 0.5
        if keep is None:
            a = s.softmax(-1)
        else:
            keep = keep.expand(s.shape)
            s = s.masked_fill(~keep, -torch.inf).masked_fill(~keep.any(-1, keepdim=True), 0)
            a = s.softmax(-1).masked_fill(~keep, 0)
        out = einsum("bhnm,bhmd->bnhd", self.drop(a), v).flatten(-2)
        return self.W_o(out), (k, v)


class FFN(nn.Module):
    def __init__(self, d: int, f: int) -> None:
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d, f), nn.Linear(f, d)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense2(self.dense1(x).relu())


class AddNorm(nn.Module):
    def __init__(self, d: int, p: float) -> None:
        super().__init__()
        self.ln, self.drop = nn.LayerNorm(d), nn.Dropout(p)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.ln(x + self.drop(y))


class EncoderLayer(nn.Module):
    def __init__(self, d: int, h: int, f: int, p: float) -> None:
        super().__init__()
        self.attention, self.ffn = Attn(d, h, p), FFN(d, f)
        self.addnorm1, self.addnorm2 = AddNorm(d, p), AddNorm(d, p)

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        x = self.addnorm1(x, self.attention(x, x, keep)[0])
        return self.addnorm2(x, self.ffn(x))


class DecoderLayer(nn.Module):
    def __init__(self, d: int, h: int, f: int, p: float) -> None:
        super().__init__()
        self.self_attn, self.cross_attn, self.ffn = Attn(d, h, p), Attn(d, h, p), FFN(d, f)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(d), nn.LayerNorm(d), nn.LayerNorm(d)
        self.drop = nn.Dropout(p)

    def forward(
        self, x: Tensor, memory: Tensor, keep: Tensor | None, cache: LayerCache | None
    ) -> tuple[Tensor, LayerCache]:
        old = 0 if cache is None else cache[0].shape[2]
        t = torch.arange(old + x.shape[1], device=x.device)
        y, cache = self.self_attn(x, x, t <= t[old:, None], cache)
        x = self.norm1(x + self.drop(y))
        x = self.norm2(x + self.drop(self.cross_attn(x, memory, keep)[0]))
        return self.norm3(x + self.drop(self.ffn(x))), cache


class Half(nn.Module):
    def __init__(self, vocab: int, d: int, layers: list[nn.Module]) -> None:
        super().__init__()
        self.embedding, self.layers = nn.Embedding(vocab, d), nn.ModuleList(layers)


def table(n: int, d: int) -> Tensor:
    i = torch.arange(d)
    a = torch.outer(torch.arange(n).double(), 10000.0 ** (-(i - i % 2).double() / d))
    return torch.where(i % 2 == 0, a.sin(), a.cos()).float()


class Transformer(nn.Module):
    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        dropout: float = 0.0,
        max_len: int = 1000,
        pad_id: int = 0,
    ) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        args = d_model, n_heads, d_ff, dropout
        self.pad_id, self.max_len, self.scale = pad_id, max_len, d_model**0.5
        self.encoder = Half(src_vocab_size, d_model, [EncoderLayer(*args) for _ in range(n_layers)])
        self.decoder = Half(tgt_vocab_size, d_model, [DecoderLayer(*args) for _ in range(n_layers)])
        self.decoder.dense = nn.Linear(d_model, tgt_vocab_size)
        self.drop = nn.Dropout(dropout)
        self.register_buffer("pe", table(max_len, d_model), persistent=False)

    def embed(self, embedding: nn.Embedding, tokens: Tensor, start: int) -> Tensor:
        stop = start + tokens.shape[1]
        if stop > self.max_len:
            raise ValueError(f"{stop} tokens exceed max_len={self.max_len}")
        e = embedding(tokens) * self.scale
        return self.drop(e + self.pe[start:stop].to(e.dtype))

    def encode(self, src: Tensor) -> tuple[Tensor, Tensor]:
        keep = (src != self.pad_id)[:, None, :]
        x = self.embed(self.encoder.embedding, src, 0)
        for layer in self.encoder.layers:
            x = layer(x)  # wrong
        return x, keep

    def decode(
        self, tgt: Tensor, memory: Tensor, memory_mask: Tensor | None = None, cache: list[LayerCache] | None = None
    ) -> tuple[Tensor, list[LayerCache]]:
        cache = [None] * len(self.decoder.layers) if cache is None else list(cache)
        start = cache[0][0].shape[2] if cache and cache[0] is not None else 0
        keep = None if memory_mask is None else memory_mask[:, None]
        x = self.embed(self.decoder.embedding, tgt, start)
        for i, layer in enumerate(self.decoder.layers):
            x, cache[i] = layer(x, memory, keep, cache[i])
        return self.decoder.dense(x), cache

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        return self.decode(tgt, *self.encode(src))[0]
