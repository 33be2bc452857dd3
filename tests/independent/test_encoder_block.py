"""encoder-block against `nn.TransformerEncoderLayer`, and against split weights where nothing is visible."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import agree, reference

F64 = {"dtype": torch.float64}


def pair(width: int, heads: int, d_ff: int, dropout: float = 0.0) -> tuple[nn.Module, nn.TransformerEncoderLayer]:
    """Return our block, with norms that do something, and PyTorch's post-norm layer with the same weights."""
    torch.manual_seed(7)
    own = reference("encoder-block").EncoderBlock(width, heads, d_ff, dropout).double()
    known = nn.TransformerEncoderLayer(width, heads, d_ff, dropout=dropout, batch_first=True, norm_first=False, **F64)
    layers = [own.attention.W_q, own.attention.W_k, own.attention.W_v]
    with torch.no_grad():
        for name, parameter in own.named_parameters():
            if "ln" in name or "bias" in name:
                parameter.add_(0.3 * torch.randn_like(parameter))
        known.self_attn.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        known.self_attn.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
    known.self_attn.out_proj.load_state_dict(own.attention.W_o.state_dict())
    known.linear1.load_state_dict(own.ffn.dense1.state_dict())
    known.linear2.load_state_dict(own.ffn.dense2.state_dict())
    known.norm1.load_state_dict(own.addnorm1.ln.state_dict())
    known.norm2.load_state_dict(own.addnorm2.ln.state_dict())
    return own, known


def keep(*shape: int) -> Tensor:
    """Draw a mask with something visible in each row."""
    mask = torch.rand(shape) < 0.5
    mask[..., -1] |= ~mask.any(-1)
    return mask


def hidden(mask: Tensor | None) -> Tensor | None:
    """Turn a mask of ours into one of PyTorch's: (B * H, S, S), True = hidden, for B = 3, H = 2, S = 5."""
    if mask is None:
        return None
    if mask.dim() == 3:
        mask = mask[:, None]
    return ~mask.expand(3, 2, 5, 5).reshape(6, 5, 5)


MASKS = {
    "none": lambda: None,
    "for all": lambda: keep(5, 5),
    "per sequence": lambda: keep(3, 5, 5),
    "padding": lambda: keep(3, 1, 5),
    "padding with heads": lambda: keep(3, 1, 1, 5),
    "all heads": lambda: keep(3, 1, 5, 5),
    "per head": lambda: keep(3, 2, 5, 5),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_block(mask: Callable[[], Tensor | None]) -> None:
    """`nn.TransformerEncoderLayer` in training mode without dropout: values and gradients."""
    own, known = pair(8, 2, 12)
    given, x = mask(), torch.randn(3, 5, 8, **F64).requires_grad_()
    got, want = own(x, given), known(x, src_mask=hidden(given))
    agree(got, want)
    agree(own.eval()(x, given), want)
    cotangent = torch.randn(3, 5, 8, **F64)
    mine = (x, own.attention.W_o.weight, own.ffn.dense1.weight, own.addnorm1.ln.weight, own.addnorm2.ln.bias)
    theirs = (x, known.self_attn.out_proj.weight, known.linear1.weight, known.norm1.weight, known.norm2.bias)
    gradients = torch.autograd.grad(got, mine, cotangent), torch.autograd.grad(want, theirs, cotangent)
    for one, two in zip(*gradients, strict=True):
        agree(one, two)


def test_where_nothing_is_visible() -> None:
    """Blind tokens get the bias of W_o from the attention, and finite gradients."""
    own, _ = pair(8, 2, 12)
    x = torch.randn(3, 5, 8, **F64).requires_grad_()
    mask = keep(3, 5, 5)
    mask[0, 2], mask[1] = False, False
    attention, first, second = own.attention, own.addnorm1.ln, own.addnorm2.ln

    def split(layer: nn.Linear) -> Tensor:
        return torch.einsum("bsi,hoi->bhso", x, layer.weight.unflatten(0, (2, 4))) + layer.bias.view(2, 1, 4)

    seen = F.scaled_dot_product_attention(
        split(attention.W_q), split(attention.W_k), split(attention.W_v), mask[:, None]
    )
    attended = torch.einsum("bhso,eho->bse", seen, attention.W_o.weight.unflatten(1, (2, 4))) + attention.W_o.bias
    agree(attended[1], attention.W_o.bias.expand(5, 8))
    y = F.layer_norm(x + attended, (8,), first.weight, first.bias)
    fed = (y @ own.ffn.dense1.weight.T + own.ffn.dense1.bias).clamp(min=0) @ own.ffn.dense2.weight.T
    want = F.layer_norm(y + fed + own.ffn.dense2.bias, (8,), second.weight, second.bias)
    got = own(x, mask)
    agree(got, want)
    cotangent = torch.randn(3, 5, 8, **F64)
    agree(torch.autograd.grad(got, x, cotangent)[0], torch.autograd.grad(want, x, cotangent)[0])


def test_everything_dropped() -> None:
    """With a rate of 1 in training the tokens are normalised twice."""
    own, _ = pair(8, 2, 12, dropout=1.0)
    x = torch.randn(3, 5, 8, **F64)
    first, second = own.addnorm1.ln, own.addnorm2.ln
    once = F.layer_norm(x, (8,), first.weight, first.bias)
    agree(own.train()(x), F.layer_norm(once, (8,), second.weight, second.bias))
