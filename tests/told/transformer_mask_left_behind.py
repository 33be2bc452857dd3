# kata: transformer
# names:
import torch
import torch.nn.functional as F
from torch import Tensor, nn

LayerCache = tuple[Tensor, Tensor]


def split(t: Tensor, heads: int) -> Tensor:
    b, s, d = t.shape
    return t.reshape(b, s, heads, d // heads).permute(0, 2, 1, 3)


def join(t: Tensor) -> Tensor:
    b, h, s, c = t.shape
    return t.permute(0, 2, 1, 3).reshape(b, s, h * c)


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, p: float, training: bool) -> Tensor:
    scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)
    if mask is None:
        weights = F.softmax(scores, dim=-1)
    else:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
        scores = scores.masked_fill(mask.any(-1, keepdim=True).logical_not(), 0.0)
        weights = F.softmax(scores, dim=-1).masked_fill(mask.logical_not(), 0.0)
    return F.dropout(weights, p, training) @ v


def linears(module: nn.Module, d_model: int) -> None:
    for name in ("W_q", "W_k", "W_v", "W_o"):
        module.add_module(name, nn.Linear(d_model, d_model))


def make_attention(d_model: int) -> nn.Module:
    module = nn.Module()
    linears(module, d_model)
    return module


def make_ffn(d_model: int, d_ff: int) -> nn.Module:
    module = nn.Module()
    module.dense1 = nn.Linear(d_model, d_ff)
    module.dense2 = nn.Linear(d_ff, d_model)
    return module


def make_addnorm(d_model: int) -> nn.Module:
    module = nn.Module()
    module.ln = nn.LayerNorm(d_model)
    return module


def make_encoder_layer(d_model: int, d_ff: int) -> nn.Module:
    layer = nn.Module()
    layer.attention = make_attention(d_model)
    layer.ffn = make_ffn(d_model, d_ff)
    layer.addnorm1 = make_addnorm(d_model)
    layer.addnorm2 = make_addnorm(d_model)
    return layer


def make_decoder_layer(d_model: int, d_ff: int) -> nn.Module:
    layer = nn.Module()
    layer.self_attn = make_attention(d_model)
    layer.cross_attn = make_attention(d_model)
    layer.ffn = make_ffn(d_model, d_ff)
    layer.norm1 = nn.LayerNorm(d_model)
    layer.norm2 = nn.LayerNorm(d_model)
    layer.norm3 = nn.LayerNorm(d_model)
    return layer


def sinusoidal_table(max_len: int, d_model: int) -> Tensor:
    exponent = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angle = torch.arange(max_len, dtype=torch.float64).unsqueeze(1) / torch.pow(10000.0, exponent)
    table = torch.empty(max_len, d_model, dtype=torch.float32)
    table[:, 0::2] = angle.sin()
    table[:, 1::2] = angle.cos()[:, : d_model // 2]
    return table


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
        if d_model % n_heads != 0:
            raise ValueError(f"{n_heads} heads do not divide a width of {d_model}")
        self.n_heads, self.p, self.max_len, self.pad_id = n_heads, dropout, max_len, pad_id
        self.encoder = nn.Module()
        self.encoder.embedding = nn.Embedding(src_vocab_size, d_model)
        self.encoder.layers = nn.ModuleList(make_encoder_layer(d_model, d_ff) for _ in range(n_layers))
        self.decoder = nn.Module()
        self.decoder.embedding = nn.Embedding(tgt_vocab_size, d_model)
        self.decoder.layers = nn.ModuleList(make_decoder_layer(d_model, d_ff) for _ in range(n_layers))
        self.decoder.dense = nn.Linear(d_model, tgt_vocab_size)
        self.register_buffer("pe", sinusoidal_table(max_len, d_model), persistent=False)

    def _drop(self, t: Tensor) -> Tensor:
        return F.dropout(t, self.p, self.training)

    def _tokens(self, ids: Tensor, embedding: nn.Embedding, past: int) -> Tensor:
        end = past + ids.shape[1]
        if end > self.max_len:
            raise ValueError(f"{end} tokens, but max_len = {self.max_len}")
        vectors = F.embedding(ids, embedding.weight)
        return self._drop(vectors * vectors.shape[-1] ** 0.5 + self.pe[past:end])

    def _pairs(self, attn: nn.Module, source: Tensor) -> LayerCache:
        return split(attn.W_k(source), self.n_heads), split(attn.W_v(source), self.n_heads)

    def _look(self, attn: nn.Module, x: Tensor, kv: LayerCache, mask: Tensor | None) -> Tensor:
        q = split(attn.W_q(x), self.n_heads)
        return self._drop(attn.W_o(join(attend(q, kv[0], kv[1], mask, self.p, self.training))))

    def _think(self, ffn: nn.Module, x: Tensor) -> Tensor:
        return self._drop(ffn.dense2(F.relu(ffn.dense1(x))))

    def encode(self, src: Tensor) -> tuple[Tensor, Tensor]:
        memory_mask = src.ne(self.pad_id).unsqueeze(1)
        x = self._tokens(src, self.encoder.embedding, 0)
        for layer in self.encoder.layers:
            x = layer.addnorm1.ln(x + self._look(layer.attention, x, self._pairs(layer.attention, x), memory_mask[:, None]))
            x = layer.addnorm2.ln(x + self._think(layer.ffn, x))
        return x, memory_mask

    def decode(
        self, tgt: Tensor, memory: Tensor, memory_mask: Tensor | None = None, cache: list[LayerCache] | None = None
    ) -> tuple[Tensor, list[LayerCache]]:
        past = cache[0][0].shape[2] if cache else 0
        x = self._tokens(tgt, self.decoder.embedding, past)
        n = tgt.shape[1]
        causal = torch.ones(n, past + n, dtype=torch.bool, device=tgt.device).tril(past)
        over = memory_mask if memory_mask is None else memory_mask.unsqueeze(1)
        grown = []
        for i, layer in enumerate(self.decoder.layers):
            kv = self._pairs(layer.self_attn, x)
            if cache:
                kv = (torch.cat((cache[i][0], kv[0]), 2), torch.cat((cache[i][1], kv[1]), 2))
            grown.append(kv)
            x = layer.norm1(x + self._look(layer.self_attn, x, kv, causal))
            x = layer.norm2(x + self._look(layer.cross_attn, x, self._pairs(layer.cross_attn, memory), over))
            x = layer.norm3(x + self._think(layer.ffn, x))
        return self.decoder.dense(x), grown

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        memory, memory_mask = self.encode(src)
        logits, _ = self.decode(tgt, memory)  # wrong
        return logits
