"""attention-backward against autograd through PyTorch's own attention, and against differences of the loss."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import agree, reference

F64 = {"dtype": torch.float64}


def tensors(*lead: int, n: int = 3, m: int = 5, d_k: int = 4, d_v: int = 6) -> tuple[Tensor, ...]:
    """Draw queries, keys, values and a gradient of the output."""
    torch.manual_seed(7)
    sizes = ((n, d_k), (m, d_k), (m, d_v), (n, d_v))
    return tuple(torch.randn(*lead, *size, **F64) for size in sizes)


def by_autograd(q: Tensor, k: Tensor, v: Tensor, d_output: Tensor, mask: Tensor | None) -> tuple[Tensor, ...]:
    """Return what autograd makes of `F.scaled_dot_product_attention`."""
    leaves = [leaf.detach().requires_grad_() for leaf in (q, k, v)]
    return torch.autograd.grad(F.scaled_dot_product_attention(*leaves, attn_mask=mask), leaves, d_output)


@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
@pytest.mark.parametrize("masked", [False, True])
def test_function(lead: tuple[int, ...], masked: bool) -> None:
    """PyTorch's own attention, in one mask for all and without."""
    given = tensors(*lead)
    mask = torch.rand(3, 5).argsort(-1) < 3 if masked else None
    got = reference("attention-backward").attention_backward(*given, mask)
    for one, two in zip(got, by_autograd(*given, mask), strict=True):
        agree(one, two)


def test_queries_that_see_nothing() -> None:
    """They are as if they were not there: the others, alone, give the same dk and dv."""
    q, k, v, d_output = tensors(2, n=4)
    mask = torch.rand(4, 5).argsort(-1) < 3
    mask[1] = False
    dq, dk, dv = reference("attention-backward").attention_backward(q, k, v, d_output, mask)
    rest = [0, 2, 3]
    want = by_autograd(q[:, rest], k, v, d_output[:, rest], mask[rest])
    assert not dq[:, 1].any()
    for one, two in zip((dq[:, rest], dk, dv), want, strict=True):
        agree(one, two)


def test_hidden_keys() -> None:
    """They get zeros, and the others what they get without them."""
    q, k, v, d_output = tensors(2)
    mask = torch.tensor([True, False, True, True, False])
    _, dk, dv = reference("attention-backward").attention_backward(q, k, v, d_output, mask)
    assert not dk[:, ~mask].any()
    assert not dv[:, ~mask].any()
    _, short_k, short_v = by_autograd(q, k[:, mask], v[:, mask], d_output, None)
    agree(dk[:, mask], short_k)
    agree(dv[:, mask], short_v)


def test_second_derivative() -> None:
    """What comes back can be differentiated, also where a query sees nothing."""
    given = [tensor.requires_grad_() for tensor in tensors(2, n=2, m=3, d_k=2, d_v=2)]
    mask = torch.tensor([[True, True, False], [False, False, False]])
    backward = reference("attention-backward").attention_backward
    assert torch.autograd.gradcheck(lambda *four: backward(*four, mask), given)


def test_differences_of_the_loss() -> None:
    """A step along any direction changes the loss by the dot product with the gradients."""
    q, k, v, d_output = tensors(2)
    steps, h = [torch.randn_like(one) for one in (q, k, v)], 1e-5

    def loss(step: float) -> Tensor:
        moved = [one + step * along for one, along in zip((q, k, v), steps, strict=True)]
        weights = torch.softmax(moved[0] @ moved[1].mT / 2, dim=-1)
        return (weights @ moved[2] * d_output).sum()

    grads = reference("attention-backward").attention_backward(q, k, v, d_output)
    along = sum((grad * step).sum() for grad, step in zip(grads, steps, strict=True))
    torch.testing.assert_close((loss(h) - loss(-h)) / (2 * h), along, rtol=1e-7, atol=1e-8)
