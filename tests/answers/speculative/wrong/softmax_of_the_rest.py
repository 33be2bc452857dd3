# family: core
# mistake: none
"""Normalises what is left with a softmax."""

import torch


def accept(draft_tokens, draft_probs, target_probs, uniforms):
    K = draft_tokens.shape[0]
    column = draft_tokens[:, None]
    ratio = (target_probs[:K].gather(1, column) / draft_probs.gather(1, column))[:, 0]
    kept = int((uniforms[:K] < ratio).long().cumprod(0).sum())
    probs = target_probs[kept]
    if kept < K:
        probs = torch.softmax((probs - draft_probs[kept]).clamp(min=0), dim=-1)
    cdf = probs.cumsum(0)
    extra = torch.searchsorted(cdf, uniforms[-1:] * cdf[-1], right=True)
    return torch.cat([draft_tokens[:kept], extra])
