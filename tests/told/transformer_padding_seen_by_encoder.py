# kata: transformer
# names: encoder-reads-padding
import math

import torch
from torch import Tensor, nn

LayerCache = tuple[Tensor, Tensor]


class MultiHeadAttention(nn.Module):
    def __init__(self, num_hiddens: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.W_q = nn.Linear(num_hiddens, num_hiddens)
        self.W_k = nn.Linear(num_hiddens, num_hiddens)
        self.W_v = nn.Linear(num_hiddens, num_hiddens)
        self.W_o = nn.Linear(num_hiddens, num_hiddens)

    def transpose_qkv(self, X: Tensor) -> Tensor:
        X = X.reshape(X.shape[0], X.shape[1], self.num_heads, X.shape[2] // self.num_heads)
        return X.permute(0, 2, 1, 3)

    def transpose_output(self, X: Tensor) -> Tensor:
        X = X.permute(0, 2, 1, 3)
        return X.reshape(X.shape[0], X.shape[1], -1)

    def masked_softmax(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None:
            return torch.softmax(scores, dim=-1)
        lowest = torch.full_like(scores, torch.finfo(scores.dtype).min)
        return torch.softmax(torch.where(mask, scores, lowest), dim=-1) * mask

    def forward(
        self, queries: Tensor, context: Tensor, mask: Tensor | None = None, past: LayerCache | None = None
    ) -> tuple[Tensor, LayerCache]:
        Q = self.transpose_qkv(self.W_q(queries))
        K = self.transpose_qkv(self.W_k(context))
        V = self.transpose_qkv(self.W_v(context))
        if past is not None:
            K = torch.cat((past[0], K), dim=2)
            V = torch.cat((past[1], V), dim=2)
        scores = torch.matmul(Q, K.transpose(2, 3)) / math.sqrt(Q.shape[-1])
        attention_weights = self.masked_softmax(scores, mask)
        output = torch.matmul(self.dropout(attention_weights), V)
        return self.W_o(self.transpose_output(output)), (K, V)


class PositionWiseFFN(nn.Module):
    def __init__(self, num_hiddens: int, ffn_num_hiddens: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(num_hiddens, ffn_num_hiddens)
        self.relu = nn.ReLU()
        self.dense2 = nn.Linear(ffn_num_hiddens, num_hiddens)

    def forward(self, X: Tensor) -> Tensor:
        return self.dense2(self.relu(self.dense1(X)))


class AddNorm(nn.Module):
    def __init__(self, num_hiddens: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(num_hiddens)

    def forward(self, X: Tensor, Y: Tensor) -> Tensor:
        return self.ln(self.dropout(Y) + X)


class PositionalEncoding(nn.Module):
    """Positional encoding."""

    def __init__(self, num_hiddens: int, dropout: float, max_len: int) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        P = torch.zeros((1, max_len, num_hiddens), dtype=torch.float64)
        X = torch.arange(max_len, dtype=torch.float64).reshape(-1, 1) / torch.pow(
            10000, torch.arange(0, num_hiddens, 2, dtype=torch.float64) / num_hiddens
        )
        P[:, :, 0::2] = torch.sin(X)
        P[:, :, 1::2] = torch.cos(X[:, : num_hiddens // 2])
        self.register_buffer("pe", P.to(torch.float32), persistent=False)

    def forward(self, X: Tensor, start: int = 0) -> Tensor:
        stop = start + X.shape[1]
        if stop > self.pe.shape[1]:
            raise ValueError(f"position {stop - 1} is not in the table")
        return self.dropout(X + self.pe[:, start:stop].to(X.dtype))


class TransformerEncoderBlock(nn.Module):
    def __init__(self, num_hiddens: int, ffn_num_hiddens: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(num_hiddens, dropout)
        self.ffn = PositionWiseFFN(num_hiddens, ffn_num_hiddens)
        self.addnorm2 = AddNorm(num_hiddens, dropout)

    def forward(self, X: Tensor, mask: Tensor | None = None) -> Tensor:
        Y = self.addnorm1(X, self.attention(X, X, mask)[0])
        return self.addnorm2(Y, self.ffn(Y))


class TransformerDecoderBlock(nn.Module):
    def __init__(self, num_hiddens: int, ffn_num_hiddens: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(num_hiddens, num_heads, dropout)
        self.norm1 = nn.LayerNorm(num_hiddens)
        self.cross_attn = MultiHeadAttention(num_hiddens, num_heads, dropout)
        self.norm2 = nn.LayerNorm(num_hiddens)
        self.ffn = PositionWiseFFN(num_hiddens, ffn_num_hiddens)
        self.norm3 = nn.LayerNorm(num_hiddens)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, X: Tensor, memory: Tensor, memory_mask: Tensor | None, causal: Tensor, past: LayerCache | None
    ) -> tuple[Tensor, LayerCache]:
        X2, state = self.self_attn(X, X, causal, past)
        Y = self.norm1(X + self.dropout(X2))
        Y2, _ = self.cross_attn(Y, memory, memory_mask)
        Z = self.norm2(Y + self.dropout(Y2))
        return self.norm3(Z + self.dropout(self.ffn(Z))), state


class TransformerEncoder(nn.Module):
    def __init__(
        self, vocab_size: int, num_hiddens: int, ffn_num_hiddens: int, num_heads: int, num_blks: int, dropout: float
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.layers = nn.ModuleList()
        for _ in range(num_blks):
            self.layers.append(TransformerEncoderBlock(num_hiddens, ffn_num_hiddens, num_heads, dropout))


class TransformerDecoder(nn.Module):
    def __init__(
        self, vocab_size: int, num_hiddens: int, ffn_num_hiddens: int, num_heads: int, num_blks: int, dropout: float
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.layers = nn.ModuleList()
        for _ in range(num_blks):
            self.layers.append(TransformerDecoderBlock(num_hiddens, ffn_num_hiddens, num_heads, dropout))
        self.dense = nn.Linear(num_hiddens, vocab_size)


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
            raise ValueError(f"d_model {d_model} is not divisible by n_heads {n_heads}")
        self.d_model = d_model
        self.pad_id = pad_id
        self.pos_encoding = PositionalEncoding(d_model, dropout, max_len)
        self.encoder = TransformerEncoder(src_vocab_size, d_model, d_ff, n_heads, n_layers, dropout)
        self.decoder = TransformerDecoder(tgt_vocab_size, d_model, d_ff, n_heads, n_layers, dropout)

    @property
    def pe(self) -> Tensor:
        return self.pos_encoding.pe

    def encode(self, src: Tensor) -> tuple[Tensor, Tensor]:
        memory_mask = (src != self.pad_id).unsqueeze(1)
        X = self.pos_encoding(self.encoder.embedding(src) * math.sqrt(self.d_model))
        for blk in self.encoder.layers:
            X = blk(X)  # wrong
        return X, memory_mask

    def decode(
        self, tgt: Tensor, memory: Tensor, memory_mask: Tensor | None = None, cache: list[LayerCache] | None = None
    ) -> tuple[Tensor, list[LayerCache]]:
        num_steps = tgt.shape[1]
        num_past = cache[0][0].shape[2] if cache else 0
        X = self.pos_encoding(self.decoder.embedding(tgt) * math.sqrt(self.d_model), num_past)
        rows = torch.arange(num_past, num_past + num_steps, device=tgt.device).unsqueeze(1)
        cols = torch.arange(num_past + num_steps, device=tgt.device).unsqueeze(0)
        if memory_mask is not None:
            memory_mask = memory_mask.unsqueeze(1)
        states = []
        for i, blk in enumerate(self.decoder.layers):
            X, state = blk(X, memory, memory_mask, cols <= rows, cache[i] if cache else None)
            states.append(state)
        return self.decoder.dense(X), states

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        memory, memory_mask = self.encode(src)
        logits, _ = self.decode(tgt, memory, memory_mask)
        return logits
