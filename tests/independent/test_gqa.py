"""gqa against PyTorch's own attention, which shares keys and values by itself."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import agree, reference


def projected(x: Tensor, layer: nn.Linear, heads: int) -> Tensor:
    """Project to heads without calling the layer: (B, heads, S, d_head)."""
    result = torch.einsum("bsi,hoi->bhso", x, layer.weight.unflatten(0, (heads, -1)))
    return result if layer.bias is None else result + layer.bias.unflatten(0, (heads, 1, -1))


def by_pytorch(own: nn.Module, x: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return output and weights from `F.scaled_dot_product_attention(..., enable_gqa=True)`."""
    queries = projected(x, own.W_q, own.n_heads)
    keys, values = (projected(x, layer, own.n_kv_heads) for layer in (own.W_k, own.W_v))
    units = torch.eye(x.size(1), dtype=x.dtype).expand(x.size(0), own.n_kv_heads, -1, -1)
    if mask is not None and mask.dim() == 3:
        mask = mask[:, None]
    context, weights = (
        F.scaled_dot_product_attention(queries, keys, v, mask, enable_gqa=True) for v in (values, units)
    )
    output = torch.einsum("bhso,eho->bse", context, own.W_o.weight.unflatten(1, (own.n_heads, -1)))
    return output if own.W_o.bias is None else output + own.W_o.bias, weights


MASKS = {
    "none": None,
    "for all": (5, 5),
    "per batch": (3, 5, 5),
    "padding": (3, 1, 5),
    "padding with heads": (3, 1, 1, 5),
    "all heads": (3, 1, 5, 5),
    "per head": (3, 6, 5, 5),
}


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("n_kv_heads", [1, 2, 3, 6])
def test_gqa(n_kv_heads: int, shape: tuple[int, ...] | None, bias: bool) -> None:
    """Output, weights and all gradients; the first row of the mask sees nothing."""
    torch.manual_seed(7)
    own = reference("gqa").GroupedQueryAttention(12, 6, n_kv_heads, bias=bias).double()
    x = torch.randn(3, 5, 12, dtype=torch.float64, requires_grad=True)
    mask = None
    if shape:
        mask = torch.rand(shape) < 0.5
        mask.view(-1, 5)[0] = False
    sources = [x, *own.parameters()]
    for got, want in zip(own(x, mask), by_pytorch(own, x, mask), strict=True):
        agree(got, want)
        upstream = torch.randn_like(got)
        mine, theirs = (
            torch.autograd.grad((result * upstream).sum(), sources, retain_graph=True, materialize_grads=True)
            for result in (got, want)
        )
        for one, other in zip(mine, theirs, strict=True):
            agree(one, other)
