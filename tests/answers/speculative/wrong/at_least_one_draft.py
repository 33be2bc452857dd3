# family: core
# mistake: none
"""Stacks the decisions, which needs a draft."""

import torch


def accept(draft_tokens, draft_probs, target_probs, uniforms):
    K = len(draft_tokens)
    accepted = torch.stack([
        uniforms[i] < target_probs[i, draft_tokens[i]] / draft_probs[i, draft_tokens[i]] for i in range(K)
    ])
    kept = int(accepted.cumprod(0).sum())
    w = target_probs[kept] if kept == K else torch.relu(target_probs[kept] - draft_probs[kept])
    c = w.cumsum(0)
    return torch.cat([draft_tokens[:kept], (c <= uniforms[K] * c[-1]).sum().view(1)])
