"""mla against its plain form: keys and values of all heads are made, turned as complex numbers, and left to PyTorch."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import agree, reference

F64 = {"dtype": torch.float64}
SIZES = [(8, 2, 3, 2), (12, 3, 5, 4), (6, 1, 9, 6), (8, 4, 16, 2)]


def made(sizes: tuple[int, ...]) -> nn.Module:
    """The reference in float64, with weights of unit size."""
    torch.manual_seed(7)
    own = reference("mla").MultiHeadLatentAttention(*sizes).double()
    with torch.no_grad():
        for weight in own.parameters():
            weight.normal_()
    return own


def turned(x: Tensor, positions: Tensor) -> Tensor:
    """Pairs as complex numbers times e^(i angle), angles one by one."""
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
    steps = torch.tensor([10000.0 ** (-2 * i / x.size(-1)) for i in range(x.size(-1) // 2)], **F64)
    return torch.view_as_real(pairs * torch.exp(1j * positions[:, None] * steps)).flatten(-2)


def plain(own: nn.Module, sizes: tuple[int, ...], x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """All tokens at once: output, latents, rotary keys."""
    d_model, heads, _, d_rope = sizes
    d_head, length = d_model // heads, x.size(1)
    positions = torch.arange(length, **F64)
    latents, shared = x @ own.W_dkv.weight.T, turned(x @ own.W_kr.weight.T, positions)
    contexts = []
    for h in range(heads):
        rows = slice(h * d_head, (h + 1) * d_head)
        query = x @ own.W_q.weight[h * (d_head + d_rope) : (h + 1) * (d_head + d_rope)].T
        query = torch.cat([query[..., :d_head], turned(query[..., d_head:], positions)], dim=-1)
        key = torch.cat([latents @ own.W_uk.weight[rows].T, shared], dim=-1)
        value = latents @ own.W_uv.weight[rows].T
        contexts.append(F.scaled_dot_product_attention(query, key, value, is_causal=True))
    return torch.cat(contexts, dim=-1) @ own.W_o.weight.T, latents, shared


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("chunks", [[7], [1] * 7, [3, 4], [2, 1, 4]], ids=str)
def test_mla(sizes: tuple[int, ...], chunks: list[int]) -> None:
    """Output and cache, in one call and in chunks; the cache that is handed in stays as it was."""
    own, x = made(sizes), torch.randn(2, 7, sizes[0], **F64)
    outputs, cache = [], None
    for part in x.split(chunks, dim=1):
        before = None if cache is None else tuple(tensor.clone() for tensor in cache)
        output, after = own(part, cache)
        if cache is not None:
            assert all(torch.equal(now, then) for now, then in zip(cache, before, strict=True))
        outputs.append(output)
        cache = after
    want, latents, shared = plain(own, sizes, x)
    agree(torch.cat(outputs, dim=1), want)
    agree(cache[0], latents)
    agree(cache[1], shared)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_gradients(sizes: tuple[int, ...]) -> None:
    """Those of the tokens and of all six projections."""
    own, x = made(sizes), torch.randn(2, 5, sizes[0], **F64, requires_grad=True)
    sources = [x, *own.parameters()]
    upstream = torch.randn(2, 5, sizes[0], **F64)
    mine = torch.autograd.grad(own(x)[0], sources, upstream)
    theirs = torch.autograd.grad(plain(own, sizes, x)[0], sources, upstream)
    for one, other in zip(mine, theirs, strict=True):
        agree(one, other)


def test_scores_depend_on_the_distance_alone() -> None:
    """The same tokens behind a cache that they cannot tell from nothing: latents of 0, keys that score nothing."""
    sizes = (8, 2, 3, 4)
    own, x = made(sizes), torch.randn(1, 4, 8, **F64)
    _, (latents, shared) = own(x)
    _, (moved_latents, moved) = own(x, (torch.zeros(1, 9, 3, **F64), torch.zeros(1, 9, 4, **F64)))
    agree(moved_latents[:, 9:], latents)
    agree(moved[:, 9:] @ moved[:, 9:].mT, shared @ shared.mT)
    assert not torch.allclose(moved[:, 9:], shared)
