# family: core
# mistake: weight-of-zero-is-drawn
# A sum that equals the threshold is enough for drawing, so a uniform of 0 draws a token of weight 0.
import torch
from torch import Tensor


def draw(weights: Tensor, u: Tensor) -> Tensor:
    sums = weights.double().cumsum(0)
    return torch.searchsorted(sums, (u.double() * sums[-1]).reshape(1))  # wrong


def accept(draft_tokens: Tensor, draft_probs: Tensor, target_probs: Tensor, uniforms: Tensor) -> Tensor:
    K = draft_tokens.shape[0]
    column = draft_tokens[:, None]
    p = target_probs[:K].gather(1, column)[:, 0]
    q = draft_probs.gather(1, column)[:, 0]
    good = uniforms[:K] < p / q
    kept = int(good.long().cumprod(0).sum())
    weights = target_probs[kept]
    if kept < K:
        weights = (weights - draft_probs[kept]).clamp(min=0)
    return torch.cat((draft_tokens[:kept], draw(weights, uniforms[-1])))
