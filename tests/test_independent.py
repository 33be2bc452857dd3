"""Every reference agrees in float64 to 1e-10 with an implementation that shares no code with it.

PyTorch's own modules and functions where there are some, plain Python loops for the rest. Queries that may attend to
nothing, for which `nn.MultiheadAttention` gives NaN, follow the contract: weights and context of 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from grader import catalog
from tests.references import reference

F64 = {"dtype": torch.float64}
TOLERANCE = 1e-10


def agree(*pairs: tuple[Tensor, Tensor]) -> None:
    """Check shape, dtype and values of what the reference made against what is expected."""
    for got, want in pairs:
        torch.testing.assert_close(got, want, rtol=TOLERANCE, atol=TOLERANCE)


def agree_in_gradients(got: Tensor, want: Tensor, mine: list, theirs: list | None = None) -> None:
    """Check the gradients of the same random combination of two results; several sources may stand for one matrix."""
    weights = torch.randn_like(got)

    def gradients(result: Tensor, sources: list) -> Iterator[Tensor]:
        for source in sources:
            yield torch.cat(torch.autograd.grad((result * weights).sum(), source, retain_graph=True))

    agree(*zip(gradients(got, mine), gradients(want, theirs or mine), strict=True))


def leaves(*tensors: Tensor) -> list[Tensor]:
    """Return copies that take a gradient."""
    return [tensor.detach().clone().requires_grad_() for tensor in tensors]


def randn(*shape: int) -> Tensor:
    """Draw float64 numbers."""
    return torch.randn(*shape, **F64)


def keep(*shape: int, blind: bool = False) -> Tensor:
    """Draw a mask with something visible in each row; ``blind``: but not in the first one."""
    mask = torch.rand(shape) < 0.5
    mask[..., -1] |= ~mask.any(-1)
    if blind:
        mask.view(-1, shape[-1])[0] = False
    return mask


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """Draw the same numbers in each run."""
    torch.manual_seed(7)


def test_every_kata_is_here() -> None:
    """A new kata needs an independent implementation too."""
    files = (Path(__file__), *Path(__file__).with_name("independent").glob("test_*.py"))
    here = "".join(file.read_text(encoding="utf-8") for file in files)
    assert [kata for kata in catalog.katas() if f'"{kata}"' not in here] == []


def softmax_by_hand(scores: list[float], visible: list[bool]) -> list[float]:
    """Softmax over the visible scores; zeros where none is."""
    top = max((s for s, v in zip(scores, visible, strict=True) if v), default=0.0)
    parts = [math.exp(s - top) if v else 0.0 for s, v in zip(scores, visible, strict=True)]
    total = math.fsum(parts)
    return [part / total if total else 0.0 for part in parts]


def along(dim: int, *tensors: Tensor) -> Iterator[list[Tensor]]:
    """Yield the slices of tensors of one shape along an axis."""
    moved = [tensor.movedim(dim, -1).flatten(0, -2) for tensor in tensors]
    return ([tensor[row] for tensor in moved] for row in range(len(moved[0])))


@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("shape", [None, (3, 4, 5), (4, 5), (3, 1, 1), (1, 4, 1)])
def test_masked_softmax(shape: tuple[int, ...] | None, dim: int, scale: float) -> None:
    """Loops over each slice: values, gradients, slices without anything visible."""
    mask = torch.rand(shape) < 0.5 if shape else torch.tensor(True)
    (scores,) = leaves(scale * randn(3, 4, 5))
    weights = reference("masked-softmax").masked_softmax(scores, mask if shape else None, dim=dim)
    cotangent = randn(3, 4, 5)
    (gradient,) = torch.autograd.grad((weights * cotangent).sum(), scores)
    rows = along(dim, scores.detach(), mask.expand(3, 4, 5), weights.detach(), cotangent, gradient)
    for s, visible, w, c, g in rows:
        expected = softmax_by_hand(s.tolist(), visible.tolist())
        mean = math.fsum(a * b for a, b in zip(expected, c.tolist(), strict=True))
        slope = [a * (b - mean) for a, b in zip(expected, c.tolist(), strict=True)]
        agree((w, torch.tensor(expected, **F64)), (g, torch.tensor(slope, **F64)))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 4), (2, 5), (1, 6)])
def test_masks(n: int, m: int) -> None:
    """Loops over batch, queries and keys."""
    masks = reference("masks")
    ids = torch.randint(0, 3, (3, m))
    padding, causal = masks.padding_mask(ids, pad_id=2), masks.causal_mask(n, m)
    both = masks.combine_masks(None, padding, causal)
    assert (padding.shape, causal.shape, both.shape) == ((3, 1, 1, m), (n, m), (3, 1, n, m))
    for b, i, j in itertools.product(range(3), range(n), range(m)):
        token, past = ids[b, j].item() != 2, j <= i + (m - n)
        assert padding[b, 0, 0, j].item() is token
        assert causal[i, j].item() is past
        assert both[b, 0, i, j].item() is (token and past)
    assert masks.combine_masks(None, None) is None
    assert torch.equal(masks.causal_mask(n), masks.causal_mask(n, n))


def sdpa(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """PyTorch's own attention; with the unit vectors as values it returns the weights."""
    units = torch.eye(k.size(-2), **F64).expand(*k.shape[:-1], k.size(-2))
    return F.scaled_dot_product_attention(q, k, v, mask), F.scaled_dot_product_attention(q, k, units, mask)


MASKS = {
    "none": lambda *_: None,
    "per batch": keep,
    "for all": lambda *shape: keep(*shape[-2:]),
    "padding": lambda *shape: keep(*shape[:-2], 1, shape[-1]),
    "blind": lambda *shape: keep(*shape, blind=True),
}
masked = pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)


@masked
@pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
def test_sdpa(leading: tuple[int, ...], mask) -> None:
    """`F.scaled_dot_product_attention`: output, weights, gradients."""
    q, k, v = leaves(randn(*leading, 4, 6), randn(*leading, 5, 6), randn(*leading, 5, 2))
    given = mask(*leading, 4, 5)
    got = reference("sdpa").scaled_dot_product_attention(q, k, v, given)
    want = sdpa(q, k, v, given)
    agree(*zip(got, want, strict=True))
    agree_in_gradients(got[0], want[0], [q, k, v])
    agree_in_gradients(got[1], want[1], [q, k])


def projected(x: Tensor, layer: nn.Linear) -> Tensor:
    """Project without calling the layer."""
    result = torch.einsum("...i,oi->...o", x, layer.weight)
    return result if layer.bias is None else result + layer.bias


@masked
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kata", ["self-attention", "cross-attention"])
def test_one_head(kata: str, mask, bias: bool) -> None:
    """Projections written out, then `F.scaled_dot_product_attention`; the context has a length and width of its own."""
    x, context = leaves(randn(2, 4, 7), randn(2, 5, 6))
    if kata == "self-attention":
        attention = reference("self-attention").SelfAttention(7, 4, 3, bias=bias).double()
        given, source, tokens = mask(2, 4, 4), x, [x]
    else:
        attention = reference("cross-attention").CrossAttention(7, 4, 3, d_context=6, bias=bias).double()
        given, source, tokens = mask(2, 4, 5), context, [x, context]
    keys, values = projected(source, attention.W_k), projected(source, attention.W_v)
    got, want = attention(*tokens, given), sdpa(projected(x, attention.W_q), keys, values, given)
    agree(*zip(got, want, strict=True))
    agree_in_gradients(got[0], want[0], [*tokens, *attention.parameters()])


def test_split_heads() -> None:
    """Loops over every number."""
    module = reference("split-heads")
    x = randn(2, 5, 12)
    heads = module.split_heads(x, 3)
    assert heads.shape == (2, 3, 5, 4)
    for b, s, f in itertools.product(range(2), range(5), range(12)):
        assert heads[b, f // 4, s, f % 4] == x[b, s, f]
    joined = module.concat_heads(heads)
    assert joined.shape == x.shape
    for b, h, s, i in itertools.product(range(2), range(3), range(5), range(4)):
        assert joined[b, s, 4 * h + i] == heads[b, h, s, i]


def torch_twin(own: nn.Module, width: int, heads: int) -> nn.MultiheadAttention:
    """Return PyTorch's module with the weights of ours."""
    known = nn.MultiheadAttention(width, heads, bias=own.W_q.bias is not None, batch_first=True, **F64)
    copy_attention(own, known)
    return known


def copy_attention(own: nn.Module, known: nn.MultiheadAttention) -> None:
    """Copy W_q, W_k, W_v into the one matrix that PyTorch has for them, and W_o."""
    layers = [own.W_q, own.W_k, own.W_v]
    with torch.no_grad():
        known.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        known.out_proj.weight.copy_(own.W_o.weight)
        if own.W_q.bias is not None:
            known.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
            known.out_proj.bias.copy_(own.W_o.bias)


def hidden(mask: Tensor | None, batch: int, heads: int, n: int, m: int) -> Tensor | None:
    """Turn a mask of ours into one of `nn.MultiheadAttention`: (B * H, n, m), True = hidden."""
    if mask is None:
        return None
    if mask.dim() == 3:
        mask = mask[:, None]
    return ~mask.expand(batch, heads, n, m).reshape(batch * heads, n, m)


MHA_MASKS = {
    "none": lambda: None,
    "for all": lambda: keep(4, 5),
    "per batch": lambda: keep(3, 4, 5),
    "padding": lambda: keep(3, 1, 5),
    "padding with heads": lambda: keep(3, 1, 1, 5),
    "all heads": lambda: keep(3, 1, 4, 5),
    "per head": lambda: keep(3, 2, 4, 5),
}


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("mask", MHA_MASKS.values(), ids=MHA_MASKS)
def test_mha(mask, bias: bool) -> None:
    """`nn.MultiheadAttention` with the same weights: output, weights, gradients of inputs and parameters."""
    own = reference("mha").MultiHeadAttention(8, 2, bias=bias).double()
    known = torch_twin(own, 8, 2)
    q, k, v = leaves(randn(3, 4, 8), randn(3, 5, 8), randn(3, 5, 8))
    given = mask()
    got = own(q, k, v, given)
    want = known(q, k, v, attn_mask=hidden(given, 3, 2, 4, 5), average_attn_weights=False)
    agree(*zip(got, want, strict=True))
    joined = [own.W_q.weight, own.W_k.weight, own.W_v.weight]
    mine, theirs = [joined, own.W_o.weight], [known.in_proj_weight, known.out_proj.weight]
    agree_in_gradients(got[0], want[0], [q, k, v, *mine], [q, k, v, *theirs])


def heads_by_einsum(own: nn.Module, heads: int, x: Tensor, source: Tensor, mask: Tensor | None) -> Tensor:
    """Multi-head attention from split weights and `F.scaled_dot_product_attention`, which gives 0 to the blind."""

    def split(layer: nn.Linear, tokens: Tensor) -> Tensor:
        weight = layer.weight.unflatten(0, (heads, -1))
        bias = layer.bias.unflatten(0, (heads, 1, -1))
        return torch.einsum("bsi,hoi->bhso", tokens, weight) + bias

    queries, keys, values = split(own.W_q, x), split(own.W_k, source), split(own.W_v, source)
    context = F.scaled_dot_product_attention(queries, keys, values, mask)
    return torch.einsum("bhso,eho->bse", context, own.W_o.weight.unflatten(1, (heads, -1))) + own.W_o.bias


def test_mha_where_nothing_is_visible() -> None:
    """Blind queries get weights 0, a context of 0 and finite gradients."""
    own = reference("mha").MultiHeadAttention(8, 2).double()
    (x,) = leaves(randn(3, 5, 8))
    mask = keep(3, 2, 5, 5, blind=True)
    mask[1] = False
    output, weights = own(x, x, x, mask)
    want = heads_by_einsum(own, 2, x, x, mask)
    agree((output, want), (output[1], own.W_o.bias.expand(5, 8)), (weights[1], torch.zeros(2, 5, 5, **F64)))
    agree_in_gradients(output, want, [x, *own.parameters()])


@pytest.mark.parametrize("base", [10000.0, 500.0])
@pytest.mark.parametrize("width", [1, 7, 8])
def test_positional_encoding(width: int, base: float) -> None:
    """`math.sin` and `math.cos`, number by number; the table is the nearest float32."""
    module = reference("positional-encoding")
    table = module.sinusoidal_encoding(720, width, base=base)
    assert (table.shape, table.dtype) == ((720, width), torch.float32)
    for position, feature in itertools.product((0, 1, 2, 7, 63, 700, 719), range(width)):
        angle = position / base ** ((feature - feature % 2) / width)
        exact = math.cos(angle) if feature % 2 else math.sin(angle)
        assert abs(table[position, feature].item() - exact) <= 2**-25 + TOLERANCE
    encoding = module.PositionalEncoding(width, max_len=9).double().eval()
    (x,) = leaves(randn(2, 6, width))
    rows = module.sinusoidal_encoding(9, width)[:6].double()
    agree((encoding(x), torch.stack([sequence + rows for sequence in x])))
    agree_in_gradients(encoding(x), x + rows, [x])


def causal(n: int, m: int) -> Tensor:
    """Write the bottom-right aligned triangle out."""
    return torch.tensor([[j <= i + m - n for j in range(m)] for i in range(n)])


@pytest.mark.parametrize("chunks", [[6], [1] * 6, [4, 2], [1, 3, 2]])
@pytest.mark.parametrize("padded", [False, True])
def test_kv_cache(chunks: list[int], padded: bool) -> None:
    """Any chunks of a sequence give what `nn.MultiheadAttention` gives for the whole under a causal mask."""
    own = reference("kv-cache").CachedSelfAttention(8, 2).double()
    x = randn(3, 6, 8)
    padding = torch.tensor([[True] * 6, [False, True] * 3, [False] * 2 + [True] * 4]) if padded else None
    visible = causal(6, 6) if padding is None else causal(6, 6) & padding[:, None, :]
    want, _ = torch_twin(own, 8, 2)(x, x, x, attn_mask=hidden(visible, 3, 2, 6, 6))
    seeing = ~want.isnan()
    want = torch.where(seeing, want, heads_by_einsum(own, 2, x, x, visible if padding is None else visible[:, None]))
    cache, outputs = None, []
    for start, length in zip(itertools.accumulate([0, *chunks]), chunks, strict=False):
        end = start + length
        output, cache = own(x[:, start:end], cache, None if padding is None else padding[:, :end])
        outputs.append(output)
    agree((torch.cat(outputs, 1), want))
    for tensor, layer in zip(cache, (own.W_k, own.W_v), strict=True):
        agree((tensor, torch.stack(projected(x, layer).chunk(2, dim=-1), dim=1)))


def test_kv_cache_in_gradients() -> None:
    """The gradients of a pass without a cache are those of PyTorch's module."""
    own = reference("kv-cache").CachedSelfAttention(8, 2, bias=False).double()
    known = torch_twin(own, 8, 2)
    (x,) = leaves(randn(3, 5, 8))
    got, _ = own(x)
    want, _ = known(x, x, x, attn_mask=~causal(5, 5))
    agree_in_gradients(got, want, [x, own.W_o.weight], [x, known.out_proj.weight])


def decoder_twin(own: nn.Module, width: int, heads: int, d_ff: int) -> nn.TransformerDecoderLayer:
    """Return PyTorch's post-norm layer with the weights of ours."""
    known = nn.TransformerDecoderLayer(width, heads, d_ff, dropout=0.0, batch_first=True, norm_first=False, **F64)
    copy_attention(own.self_attn, known.self_attn)
    copy_attention(own.cross_attn, known.multihead_attn)
    pairs = {"ffn.dense1": "linear1", "ffn.dense2": "linear2"} | {f"norm{i}": f"norm{i}" for i in (1, 2, 3)}
    for mine, theirs in pairs.items():
        known.get_submodule(theirs).load_state_dict(own.get_submodule(mine).state_dict())
    return known


def decoder_block() -> nn.Module:
    """Return our block with norms that do something."""
    own = reference("decoder-block").DecoderBlock(8, 2, 12).double()
    with torch.no_grad():
        for name, parameter in own.named_parameters():
            if "norm" in name:
                parameter.add_(0.3 * torch.randn_like(parameter))
    return own


@pytest.mark.parametrize("chunks", [[5], [1] * 5, [3, 2]])
@pytest.mark.parametrize("mask", MHA_MASKS.values(), ids=MHA_MASKS)
def test_decoder_block(chunks: list[int], mask) -> None:
    """Any chunks give what `nn.TransformerDecoderLayer` gives for the whole, in evaluation and in training."""
    own = decoder_block()
    known = decoder_twin(own, 8, 2, 12)
    x, memory = randn(3, 5, 8), randn(3, 5, 8)
    given = mask()
    if given is not None and given.size(-2) == 4:  # one mask for the five queries
        given = torch.cat([given, given[..., :1, :]], dim=-2)
    want = known(x, memory, tgt_mask=~causal(5, 5), memory_mask=hidden(given, 3, 2, 5, 5))
    for training in (False, True):
        cache, outputs = None, []
        own.train(training)
        for start, length in zip(itertools.accumulate([0, *chunks]), chunks, strict=False):
            end = start + length
            rows = given if given is None or given.size(-2) == 1 else given[..., start:end, :]
            output, cache = own(x[:, start:end], memory, cache, rows)
            outputs.append(output)
        agree((torch.cat(outputs, 1), want))


def test_decoder_block_in_gradients() -> None:
    """The gradients of inputs, feed-forward network and norms are those of PyTorch's layer."""
    own = decoder_block()
    known = decoder_twin(own, 8, 2, 12)
    x, memory = leaves(randn(3, 5, 8), randn(3, 4, 8))
    got, _ = own(x, memory)
    want = known(x, memory, tgt_mask=~causal(5, 5))
    mine = [own.ffn.dense1.weight, own.norm2.weight, own.self_attn.W_o.weight]
    theirs = [known.linear1.weight, known.norm2.weight, known.self_attn.out_proj.weight]
    agree_in_gradients(got, want, [x, memory, *mine], [x, memory, *theirs])


def test_decoder_block_where_nothing_of_the_memory_is_visible() -> None:
    """For a blind token the cross-attention adds the bias of W_o."""
    own = decoder_block()
    x, memory = randn(3, 5, 8), randn(3, 4, 8)
    mask = keep(3, 5, 4, blind=True)
    mask[1] = False
    got, _ = own(x, memory, memory_mask=mask)
    y = F.layer_norm(x + heads_by_einsum(own.self_attn, 2, x, x, causal(5, 5)), (8,), own.norm1.weight, own.norm1.bias)
    seen = heads_by_einsum(own.cross_attn, 2, y, memory, mask[:, None])
    z = F.layer_norm(y + seen, (8,), own.norm2.weight, own.norm2.bias)
    fed = projected(projected(z, own.ffn.dense1).clamp(min=0), own.ffn.dense2)
    agree((got, F.layer_norm(z + fed, (8,), own.norm3.weight, own.norm3.bias)))
    agree((seen[1], own.cross_attn.W_o.bias.expand(5, 8)))
