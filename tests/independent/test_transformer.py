"""transformer against PyTorch's own encoder and decoder layers, and a table of positions made number by number."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor, nn

from tests.references import agree, reference

F64 = {"dtype": torch.float64}


def table(length: int, width: int) -> Tensor:
    """Write the sinusoidal table number by number, rounded to float32 as the kata's is."""
    rows = torch.zeros(length, width, dtype=torch.float32)
    for position, feature in itertools.product(range(length), range(width)):
        angle = position / 10000.0 ** ((feature - feature % 2) / width)
        rows[position, feature] = math.cos(angle) if feature % 2 else math.sin(angle)
    return rows.double()


def copy_attention(own: nn.Module, known: nn.MultiheadAttention) -> None:
    """Copy W_q, W_k, W_v into the one matrix that PyTorch has for them, and W_o."""
    layers = [own.W_q, own.W_k, own.W_v]
    with torch.no_grad():
        known.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        known.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
    known.out_proj.load_state_dict(own.W_o.state_dict())


class KnownResults(nn.Module):
    """A Transformer of PyTorch's layers with the weights of ours."""

    def __init__(self, own: nn.Module, width: int, heads: int, d_ff: int) -> None:
        super().__init__()
        settings = {"dropout": 0.0, "batch_first": True, "norm_first": False, **F64}
        self.own, self.width = own, width
        self.encoder = [nn.TransformerEncoderLayer(width, heads, d_ff, **settings) for _ in own.encoder.layers]
        self.decoder = [nn.TransformerDecoderLayer(width, heads, d_ff, **settings) for _ in own.decoder.layers]
        for mine, theirs in zip(own.encoder.layers, self.encoder, strict=True):
            copy_attention(mine.attention, theirs.self_attn)
            self.copy_rest(mine, theirs, {"norm1": "addnorm1.ln", "norm2": "addnorm2.ln"})
        for mine, theirs in zip(own.decoder.layers, self.decoder, strict=True):
            copy_attention(mine.self_attn, theirs.self_attn)
            copy_attention(mine.cross_attn, theirs.multihead_attn)
            self.copy_rest(mine, theirs, {f"norm{i}": f"norm{i}" for i in (1, 2, 3)})

    def copy_rest(self, mine: nn.Module, theirs: nn.Module, norms: dict[str, str]) -> None:
        """Copy feed-forward network and norms."""
        for name, source in {"linear1": "ffn.dense1", "linear2": "ffn.dense2", **norms}.items():
            theirs.get_submodule(name).load_state_dict(mine.get_submodule(source).state_dict())

    def embedded(self, weight: Tensor, tokens: Tensor) -> Tensor:
        """Scaled embeddings plus positions."""
        return weight[tokens] * self.width**0.5 + table(tokens.size(1), self.width)

    def forward(self, src: Tensor, tgt: Tensor, pad_id: int) -> Tensor:
        """Return the logits."""
        padding, ahead = src == pad_id, torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool).triu(1)
        memory = self.embedded(self.own.encoder.embedding.weight, src)
        for layer in self.encoder:
            memory = layer(memory, src_key_padding_mask=padding)
        x = self.embedded(self.own.decoder.embedding.weight, tgt)
        for layer in self.decoder:
            x = layer(x, memory, tgt_mask=ahead, memory_key_padding_mask=padding)
        return x @ self.own.decoder.dense.weight.T + self.own.decoder.dense.bias


def models(pad_id: int = 0) -> tuple[nn.Module, KnownResults]:
    """Return our model, with norms and biases that do something, and PyTorch's with the same weights."""
    torch.manual_seed(7)
    own = reference("transformer").Transformer(11, 13, 8, 2, 12, 2, max_len=20, pad_id=pad_id).double()
    with torch.no_grad():
        for parameter in own.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.3 * torch.randn_like(parameter))
    return own, KnownResults(own, 8, 2, 12)


@pytest.mark.parametrize("pad_id", [0, 4])
def test_teacher_forcing(pad_id: int) -> None:
    """Logits and gradients under padding."""
    own, known = models(pad_id)
    src, tgt = torch.randint(0, 11, (3, 6)), torch.randint(0, 13, (3, 5))
    src[:, 0], src[1, 4:] = 7, pad_id
    got, want = own(src, tgt), known(src, tgt, pad_id)
    agree(got, want)
    agree(own.eval()(src, tgt), want)
    layers = own.encoder.layers[1].attention, own.decoder.layers[0].cross_attn
    mine = [own.encoder.embedding.weight, own.decoder.embedding.weight, *(layer.W_o.weight for layer in layers)]
    theirs = [*mine[:2], known.encoder[1].self_attn.out_proj.weight, known.decoder[0].multihead_attn.out_proj.weight]
    cotangent = torch.randn(3, 5, 13, **F64)
    gradients = torch.autograd.grad(got, mine, cotangent), torch.autograd.grad(want, theirs, cotangent)
    for one, two in zip(*gradients, strict=True):
        agree(one, two)


@pytest.mark.parametrize("chunks", [[5], [1] * 5, [3, 2], [1, 3, 1]])
def test_step_by_step(chunks: list[int]) -> None:
    """Any chunks of the target give the logits of PyTorch's layers for the whole."""
    own, known = models()
    src, tgt = torch.randint(0, 11, (3, 6)), torch.randint(0, 13, (3, 5))
    src[:, 2] = 5
    memory, memory_mask = own.eval().encode(src)
    assert torch.equal(memory_mask, (src != 0)[:, None])
    cache, logits = None, []
    for start, length in zip(itertools.accumulate([0, *chunks]), chunks, strict=False):
        part, cache = own.decode(tgt[:, start : start + length], memory, memory_mask, cache)
        logits.append(part)
    agree(torch.cat(logits, dim=1), known(src, tgt, 0))


def test_empty_source() -> None:
    """Where all is padding the attentions add the biases of W_o alone: other padding tokens change nothing."""
    own, _ = models()
    src, tgt = torch.randint(1, 11, (2, 4)), torch.randint(0, 13, (2, 5))
    src[1] = 0
    got = own(src, tgt)
    memory = torch.randn(2, 4, 8, **F64)
    blind, _ = own.decode(tgt, memory, torch.zeros(2, 1, 4, dtype=torch.bool))
    agree(got[1], blind[1])
    assert torch.isfinite(torch.autograd.grad(got.sum(), own.encoder.embedding.weight)[0]).all()


@pytest.mark.one_of_many(of=4)
def test_it_learns_to_reverse() -> None:
    """Trained for a moment the model writes the source backwards, step by step."""
    torch.manual_seed(7)
    own = reference("transformer").Transformer(8, 9, 32, 4, 64, 1, max_len=8)
    optimiser = torch.optim.Adam(own.parameters(), lr=3e-3)
    begin = 8

    def draw(batch: int) -> tuple[Tensor, Tensor]:
        src = torch.randint(1, 8, (batch, 4))
        return src, src.flip(1)

    for _ in range(250):
        src, want = draw(64)
        tgt = torch.cat([torch.full((64, 1), begin), want[:, :-1]], dim=1)
        loss = nn.functional.cross_entropy(own(src, tgt).flatten(0, 1), want.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    src, want = draw(50)
    memory, memory_mask = own.eval().encode(src)
    token, cache, written = torch.full((50, 1), begin), None, []
    for _ in range(4):
        logits, cache = own.decode(token, memory, memory_mask, cache)
        token = logits[:, -1:].argmax(-1)
        written.append(token)
    assert (torch.cat(written, dim=1) == want).double().mean() > 0.95
