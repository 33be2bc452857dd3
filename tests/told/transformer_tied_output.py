# kata: transformer
# names:
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LayerCache = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Config:
    d_model: int
    n_heads: int
    d_ff: int
    dropout: float
    max_len: int
    pad_id: int

    def __post_init__(self) -> None:
        if self.d_model % self.n_heads:
            raise ValueError(f"d_model {self.d_model} cannot be cut into {self.n_heads} heads")

    @property
    def d_head(self) -> int:
        return self.d_model // self.n_heads


class MultiHead(nn.Module):
    def __init__(self, cfg: Config) -> None:
        super().__init__()
        self.cfg = cfg
        self.W_q: nn.Linear = nn.Linear(cfg.d_model, cfg.d_model)
        self.W_k: nn.Linear = nn.Linear(cfg.d_model, cfg.d_model)
        self.W_v: nn.Linear = nn.Linear(cfg.d_model, cfg.d_model)
        self.W_o: nn.Linear = nn.Linear(cfg.d_model, cfg.d_model)

    def to_heads(self, t: Tensor) -> Tensor:
        return t.unflatten(2, (self.cfg.n_heads, self.cfg.d_head)).swapaxes(1, 2)

    def keys_values(self, t: Tensor) -> LayerCache:
        return self.to_heads(self.W_k(t)), self.to_heads(self.W_v(t))

    def forward(self, t: Tensor, memory: LayerCache, allowed: Tensor | None) -> Tensor:
        keys, values = memory
        scores: Tensor = torch.matmul(self.to_heads(self.W_q(t)) / self.cfg.d_head**0.5, keys.mT)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, float("-inf"))
            scores = scores.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)
        weights: Tensor = F.softmax(scores, dim=-1)
        if allowed is not None:
            weights = weights.masked_fill(~allowed, 0.0)
        weights = F.dropout(weights, self.cfg.dropout, self.training)
        return self.W_o(torch.matmul(weights, values).swapaxes(1, 2).flatten(2))


class PositionWise(nn.Module):
    def __init__(self, cfg: Config) -> None:
        super().__init__()
        self.dense1: nn.Linear = nn.Linear(cfg.d_model, cfg.d_ff)
        self.dense2: nn.Linear = nn.Linear(cfg.d_ff, cfg.d_model)

    def forward(self, t: Tensor) -> Tensor:
        return self.dense2(F.relu(self.dense1(t)))


class AddNorm(nn.Module):
    def __init__(self, cfg: Config) -> None:
        super().__init__()
        self.ln: nn.LayerNorm = nn.LayerNorm(cfg.d_model)
        self.drop: nn.Dropout = nn.Dropout(cfg.dropout)

    def forward(self, t: Tensor, update: Tensor) -> Tensor:
        return self.ln(t + self.drop(update))


class EncoderLayer(nn.Module):
    def __init__(self, cfg: Config) -> None:
        super().__init__()
        self.attention = MultiHead(cfg)
        self.ffn = PositionWise(cfg)
        self.addnorm1 = AddNorm(cfg)
        self.addnorm2 = AddNorm(cfg)

    def forward(self, t: Tensor, allowed: Tensor) -> Tensor:
        t = self.addnorm1(t, self.attention(t, self.attention.keys_values(t), allowed))
        return self.addnorm2(t, self.ffn(t))


class DecoderLayer(nn.Module):
    def __init__(self, cfg: Config) -> None:
        super().__init__()
        self.self_attn = MultiHead(cfg)
        self.cross_attn = MultiHead(cfg)
        self.ffn = PositionWise(cfg)
        self.norm1 = nn.LayerNorm(cfg.d_model)
        self.norm2 = nn.LayerNorm(cfg.d_model)
        self.norm3 = nn.LayerNorm(cfg.d_model)
        self.drop = nn.Dropout(cfg.dropout)

    def forward(
        self, t: Tensor, memory: Tensor, allowed: Tensor | None, past: LayerCache | None
    ) -> tuple[Tensor, LayerCache]:
        keys, values = self.self_attn.keys_values(t)
        if past is not None:
            keys, values = torch.cat((past[0], keys), dim=2), torch.cat((past[1], values), dim=2)
        total, new = keys.size(2), t.size(1)
        at = torch.arange(total, device=t.device)
        causal: Tensor = at[None, :] <= at[total - new :, None]
        t = self.norm1(t + self.drop(self.self_attn(t, (keys, values), causal)))
        t = self.norm2(t + self.drop(self.cross_attn(t, self.cross_attn.keys_values(memory), allowed)))
        return self.norm3(t + self.drop(self.ffn(t))), (keys, values)


class Encoder(nn.Module):
    def __init__(self, vocab: int, n_layers: int, cfg: Config) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, cfg.d_model)
        self.layers = nn.ModuleList(EncoderLayer(cfg) for _ in range(n_layers))


class Decoder(nn.Module):
    def __init__(self, vocab: int, n_layers: int, cfg: Config) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, cfg.d_model)
        self.layers = nn.ModuleList(DecoderLayer(cfg) for _ in range(n_layers))
        self.dense = nn.Linear(cfg.d_model, vocab)
        self.dense.weight = self.embedding.weight  # wrong


class Positions(nn.Module):
    def __init__(self, cfg: Config) -> None:
        super().__init__()
        self.cfg = cfg
        step = torch.arange(cfg.max_len, dtype=torch.float64)
        power = torch.arange(0, cfg.d_model, 2, dtype=torch.float64) / cfg.d_model
        angle = torch.outer(step, torch.pow(10000.0, -power))
        table = torch.zeros(cfg.max_len, cfg.d_model, dtype=torch.float32)
        table[:, 0::2] = torch.sin(angle).float()
        table[:, 1::2] = torch.cos(angle[:, : cfg.d_model // 2]).float()
        self.register_buffer("pe", table)

    def forward(self, embedded: Tensor, start: int) -> Tensor:
        stop = start + embedded.size(1)
        if stop > self.cfg.max_len:
            raise ValueError(f"position {stop - 1} is beyond max_len {self.cfg.max_len}")
        summed: Tensor = embedded * self.cfg.d_model**0.5 + self.pe[start:stop]
        return F.dropout(summed, self.cfg.dropout, self.training)


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
        cfg = Config(d_model, n_heads, d_ff, dropout, max_len, pad_id)
        self.cfg = cfg
        self.positions = Positions(cfg)
        self.encoder = Encoder(src_vocab_size, n_layers, cfg)
        self.decoder = Decoder(tgt_vocab_size, n_layers, cfg)

    def encode(self, src: Tensor) -> tuple[Tensor, Tensor]:
        memory_mask: Tensor = (src != self.cfg.pad_id)[:, None]
        memory: Tensor = self.positions(self.encoder.embedding(src), 0)
        for layer in self.encoder.layers:
            memory = layer(memory, memory_mask[:, None])
        return memory, memory_mask

    def decode(
        self, tgt: Tensor, memory: Tensor, memory_mask: Tensor | None = None, cache: list[LayerCache] | None = None
    ) -> tuple[Tensor, list[LayerCache]]:
        past: int = cache[0][0].size(2) if cache else 0
        t: Tensor = self.positions(self.decoder.embedding(tgt), past)
        allowed = memory_mask[:, None] if memory_mask is not None else None
        grown: list[LayerCache] = []
        for i, layer in enumerate(self.decoder.layers):
            t, pair = layer(t, memory, allowed, cache[i] if cache else None)
            grown.append(pair)
        return self.decoder.dense(t), grown

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        memory, memory_mask = self.encode(src)
        return self.decode(tgt, memory, memory_mask)[0]
