# family: core
# mistake: drawn-with-the-rejecting-uniform
# The token is drawn with the uniform at the place of the rejection instead of the last one.
from __future__ import annotations

import torch
from torch import Tensor


def _first_rejection(tokens: Tensor, q: Tensor, p: Tensor, u: Tensor) -> int:
    n = tokens.numel()
    ids = tokens.unsqueeze(-1)
    ratio = p[:n].gather(-1, ids).squeeze(-1) / q.gather(-1, ids).squeeze(-1)
    rejected = torch.cat([u[:n] >= ratio, torch.ones(1, dtype=torch.bool, device=u.device)])
    return int(rejected.to(torch.uint8).argmax())


def _sample(weights: Tensor, u: Tensor) -> Tensor:
    mass = weights.to(torch.float64).cumsum(-1)
    return (mass <= u.to(torch.float64) * mass[-1]).sum(-1, keepdim=True)


def accept(draft_tokens: Tensor, draft_probs: Tensor, target_probs: Tensor, uniforms: Tensor) -> Tensor:
    stop = _first_rejection(draft_tokens, draft_probs, target_probs, uniforms)
    if stop == draft_tokens.numel():
        weights = target_probs[stop]
    else:
        weights = torch.clamp_min(target_probs[stop] - draft_probs[stop], 0)
    drawn = _sample(weights, uniforms[stop])  # wrong
    return torch.cat([draft_tokens[:stop], drawn])
