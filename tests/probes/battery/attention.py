"""Attention in the styles that people write it in."""
# ruff: noqa: D103 - the name of a snippet says what it is

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from battery import HEADS, B, D, H, N, legit

INF = float("inf")
GROUPED = (B, 2, N, D)


def upper(q: Tensor) -> Tensor:
    """Return True above the diagonal, on the device of `q`."""
    return torch.ones(N, N, dtype=torch.bool, device=q.device).triu(1)


@legit(HEADS, HEADS, HEADS)
def plain(q, k, v):
    return (q @ k.transpose(-2, -1) / math.sqrt(D)).softmax(-1) @ v


@legit(HEADS, (B, H, 5, D), (B, H, 5, 3))
def cross_with_other_widths(q, k, v):
    return (q @ k.mT * D**-0.5).softmax(-1) @ v


@legit((3, B, H, N, D), (3, B, H, N, D), (3, B, H, N, D))
def more_leading_dimensions(q, k, v):
    return torch.matmul(F.softmax(torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(D), dim=-1), v)


@legit((B, H, 1, D), (B, H, 1, D), (B, H, 1, D))
def one_token(q, k, v):
    return plain(q, k, v)


@legit(HEADS, HEADS, HEADS)
def einsum(q, k, v):
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * D**-0.5
    return torch.einsum("bhqk,bhkd->bhqd", F.softmax(scores, dim=-1), v)


@legit(HEADS, HEADS, HEADS)
def bmm_over_folded_heads(q, k, v):
    q, k, v = (t.reshape(B * H, N, D) for t in (q, k, v))
    return torch.bmm(torch.softmax(torch.bmm(q, k.mT) / D**0.5, -1), v).view(B, H, N, D)


@legit(HEADS, HEADS, HEADS)
def baddbmm_with_an_additive_mask(q, k, v):
    q, k, v = (t.reshape(B * H, N, D) for t in (q, k, v))
    bias = torch.zeros(N, N, device=q.device).masked_fill_(upper(q), -INF)
    return torch.bmm(torch.baddbmm(bias.expand(B * H, N, N), q, k.transpose(1, 2), alpha=D**-0.5).softmax(-1), v)


@legit(HEADS, HEADS, HEADS)
def scale_from_a_number_tensor(q, k, v):
    return (q @ k.mT / torch.sqrt(torch.tensor(float(D)))).softmax(-1) @ v


@legit(HEADS, HEADS, HEADS)
def causal_by_tril(q, k, v):
    mask = torch.tril(torch.ones(N, N, device=q.device))
    return (q @ k.mT / D**0.5).masked_fill(mask == 0, -INF).softmax(-1) @ v


@legit(HEADS, HEADS, HEADS)
def causal_by_positions(q, k, v):
    i = torch.arange(N, device=q.device)
    scores = q @ k.mT / D**0.5
    return torch.where(i[:, None] >= i[None], scores, torch.finfo(scores.dtype).min).softmax(-1) @ v


@legit(HEADS, HEADS, HEADS)
def causal_with_a_number_tensor(q, k, v):
    return torch.where(upper(q), torch.tensor(-INF), q @ k.mT).softmax(-1) @ v


@legit(HEADS, HEADS, HEADS)
def causal_by_a_full_triangle(q, k, v):
    mask = torch.full((N, N), -INF, device=q.device, dtype=q.dtype).triu(1)
    return (q @ k.mT / D**0.5 + mask).softmax(-1) @ v


@legit(HEADS, HEADS, HEADS)
def causal_by_index_assignment(q, k, v):
    scores = q @ k.mT / D**0.5
    scores[upper(q).expand_as(scores)] = -INF
    return scores.softmax(-1) @ v


@legit(HEADS, HEADS, HEADS)
def causal_by_new_ones(q, k, v):
    mask = q.new_ones(N, N, dtype=torch.bool).tril()
    return (q @ k.mT).masked_fill(mask.logical_not(), -INF).softmax(-1) @ v


@legit(HEADS, HEADS, HEADS)
def causal_by_triu_indices(q, k, v):
    scores = q @ k.mT
    rows, columns = torch.triu_indices(N, N, 1, device=q.device)
    scores[..., rows, columns] = -1e4
    return scores.softmax(-1) @ v


@legit(HEADS, HEADS, HEADS)
def mask_as_numbers(q, k, v):
    keep = torch.ones(N, N, device=q.device).tril()
    return (q @ k.mT + (1.0 - keep) * -1e9).softmax(-1) @ v


@legit(HEADS, HEADS, HEADS)
def rows_without_keys_by_where(q, k, v):
    keep = torch.ones(B, 1, N, N, dtype=torch.bool, device=q.device)
    keep[:, :, 2] = False
    weights = (q @ k.mT).masked_fill(~keep, torch.finfo(q.dtype).min).softmax(-1)
    return torch.where(keep.any(-1, keepdim=True), weights, 0.0) @ v


@legit(HEADS, HEADS, HEADS)
def rows_without_keys_by_nan_to_num(q, k, v):
    keep = torch.zeros(N, dtype=torch.bool, device=q.device)
    return torch.nan_to_num((q @ k.mT).masked_fill(~keep, -INF).softmax(-1)) @ v


@legit(HEADS, HEADS, HEADS)
def rows_without_keys_by_division(q, k, v):
    keep = (q[..., :1] > 0) & torch.ones(N, dtype=torch.bool, device=q.device)
    scores = (q @ k.mT).masked_fill(~keep, -INF)
    top = scores.amax(-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).min)
    weights = (scores - top).exp() * keep
    return weights / weights.sum(-1, keepdim=True).clamp_min(1e-9) @ v


@legit(HEADS, HEADS, HEADS)
def padding_from_lengths(q, k, v):
    lengths = torch.tensor([4, 6], device=q.device)
    keep = torch.arange(N, device=q.device)[None] < lengths[:, None]
    return (q @ k.mT / D**0.5).masked_fill(~keep[:, None, None], -INF).softmax(-1) @ v


@legit(HEADS, HEADS, HEADS)
def padding_from_a_loop_over_lengths(q, k, v):
    lengths = torch.tensor([4, 6], device=q.device)
    keep = torch.zeros(B, 1, 1, N, dtype=torch.bool, device=q.device)
    for b in range(B):
        keep[b, ..., : lengths[b]] = True
    return (q @ k.mT).masked_fill(~keep, -INF).softmax(-1) @ v


@legit(HEADS, HEADS, HEADS)
def loop_over_heads(q, k, v):
    return torch.stack([(q[:, h] @ k[:, h].mT / D**0.5).softmax(-1) @ v[:, h] for h in range(H)], 1)


@legit(HEADS, HEADS, HEADS)
def loop_with_writes(q, k, v):
    out = torch.zeros_like(q)
    for h in range(H):
        out[:, h] = (q[:, h] @ k[:, h].mT / D**0.5).softmax(-1) @ v[:, h]
    return out


@legit(HEADS, HEADS, HEADS)
def loop_over_everything(q, k, v):
    rows = [(q[b, h, i] @ k[b, h].T).softmax(0) @ v[b, h] for b in range(B) for h in range(H) for i in range(N)]
    return torch.stack(rows).view(B, H, N, D)


@legit(HEADS, HEADS, HEADS)
def online_softmax(q, k, v):
    top, total, out = q.new_full((B, H, N, 1), -INF), q.new_zeros(B, H, N, 1), torch.zeros_like(q)
    for j in range(0, N, 2):
        scores = q @ k[:, :, j : j + 2].mT / D**0.5
        new = torch.maximum(top, scores.amax(-1, keepdim=True))
        p, scale = torch.exp(scores - new), torch.exp(top - new)
        total = total * scale + p.sum(-1, keepdim=True)
        out, top = out * scale + p @ v[:, :, j : j + 2], new
    return out / total


@legit(HEADS, HEADS, HEADS)
def flash_with_its_own_backward(q, k, v):
    class Flash(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q, k, v):
            weights = (q @ k.mT / D**0.5).softmax(-1)
            out = weights @ v
            ctx.save_for_backward(q, k, v, out, weights)
            return out

        @staticmethod
        def backward(ctx, grad):
            q, k, v, out, weights = ctx.saved_tensors
            inner = grad @ v.mT - (grad * out).sum(-1, keepdim=True)
            scores = weights * inner / D**0.5
            return scores @ k, scores.mT @ q, weights.mT @ grad

    return Flash.apply(q, k, v)


@legit(HEADS, HEADS, HEADS)
def softmax_by_hand(q, k, v):
    scores = q @ k.mT / D**0.5
    e = (scores - scores.max(dim=-1, keepdim=True).values).exp()
    return e / e.sum(-1, keepdim=True) @ v


@legit(HEADS, HEADS, HEADS)
def softmax_by_logsumexp(q, k, v):
    scores = q @ k.mT / D**0.5
    return torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True)) @ v


@legit(HEADS, HEADS, HEADS)
def softmax_in_another_dtype(q, k, v):
    return F.softmax(q @ k.mT, dim=-1, dtype=torch.float64).to(q.dtype) @ v


@legit(HEADS, HEADS, HEADS)
def half_precision(q, k, v):
    q, k, v = q.half(), k.half(), v.half()
    return ((q @ k.mT / D**0.5).float().softmax(-1).half() @ v).float()


@legit(HEADS, HEADS, HEADS)
def fused(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


@legit(HEADS, HEADS, HEADS)
def fused_causal(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


@legit(HEADS, HEADS, HEADS)
def fused_with_a_mask(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~upper(q))


@legit(HEADS, GROUPED, GROUPED)
def grouped_by_repeat_interleave(q, k, v):
    return plain(q, k.repeat_interleave(2, dim=1), v.repeat_interleave(2, dim=1))


@legit(HEADS, GROUPED, GROUPED)
def grouped_by_expand(q, k, v):
    k, v = (t[:, :, None].expand(B, 2, 2, N, D).reshape(B, H, N, D) for t in (k, v))
    return plain(q, k, v)


@legit(HEADS, GROUPED, GROUPED)
def grouped_by_einsum(q, k, v):
    scores = torch.einsum("bgrqd,bgkd->bgrqk", q.view(B, 2, 2, N, D), k) / D**0.5
    return torch.einsum("bgrqk,bgkd->bgrqd", scores.softmax(-1), v).flatten(1, 2)


@legit(HEADS, GROUPED, GROUPED)
def grouped_by_gather(q, k, v):
    heads = torch.arange(H, device=q.device) // 2
    return plain(q, k[:, heads], v.index_select(1, heads))


@legit(HEADS, HEADS, HEADS)
def sliding_window_band(q, k, v):
    i = torch.arange(N, device=q.device)
    distance = i[:, None] - i
    return (q @ k.mT).masked_fill((distance < 0) | (distance >= 2), -INF).softmax(-1) @ v


@legit(HEADS, HEADS, HEADS)
def sliding_window_unfold(q, k, v):
    k, v = (F.pad(t, (0, 0, 1, 0)).unfold(2, 2, 1) for t in (k, v))
    scores = torch.einsum("bhnd,bhndw->bhnw", q, k)
    positions = torch.arange(N, device=q.device)[:, None] - 1 + torch.arange(2, device=q.device)
    return torch.einsum("bhnw,bhndw->bhnd", scores.masked_fill(positions < 0, -INF).softmax(-1), v)


@legit(HEADS, HEADS, HEADS)
def linear_attention(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    return q @ (k.mT @ v) / (q @ k.sum(2, keepdim=True).mT + 1e-6)


@legit(HEADS, HEADS, HEADS)
def causal_linear_attention(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    state = torch.einsum("bhnd,bhne->bhnde", k, v).cumsum(2)
    return torch.einsum("bhnd,bhnde->bhne", q, state) / ((q * k.cumsum(2)).sum(-1, keepdim=True) + 1e-6)


@legit((B, N, 5), (B, 7, 5), (5,))
def additive_scores(queries, keys, w):
    return torch.tanh(queries.unsqueeze(2) + keys.unsqueeze(1)) @ w


@legit((N,), (7,), (7,))
def kernel_regression(x_query, x_key, y_key):
    weights = F.softmax(-((x_query.reshape(-1, 1) - x_key) ** 2) / 2, dim=1)
    return torch.matmul(weights, y_key)


@legit(HEADS, HEADS, HEADS)
def sparse_by_topk(q, k, v):
    scores = q @ k.mT
    return scores.masked_fill(scores < scores.topk(3, dim=-1).values[..., -1:], -INF).softmax(-1) @ v


@legit(HEADS, HEADS, HEADS)
def branches_on_values(q, k, v):
    scores = q @ k.mT
    if torch.isnan(scores).any() or torch.equal(q, k) or torch.allclose(q, k + 9):
        raise ValueError("not here")
    return scores.softmax(-1) @ v


@legit(HEADS, HEADS, HEADS)
def vmap_over_batch_and_heads(q, k, v):
    return torch.vmap(torch.vmap(lambda q, k, v: (q @ k.T / D**0.5).softmax(-1) @ v))(q, k, v)


@legit(HEADS, HEADS, HEADS)
def functional_gradient(q, k, v):
    return torch.func.grad(lambda q: plain(q, k, v).sum())(q)
