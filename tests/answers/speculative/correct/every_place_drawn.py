import torch
from torch import cat, where


def accept(draft_tokens, draft_probs, target_probs, uniforms):
    """Draw a replacement at every place, then choose one."""
    K = draft_tokens.size(0)
    p = target_probs
    q = cat([draft_probs, torch.zeros_like(p[:1])])
    rest = where(p > q, p - q, 0.0)
    sums = rest.cumsum(dim=1)
    replacement = (sums <= uniforms[K] * sums[:, -1:]).sum(dim=1)

    at_draft = torch.nn.functional.one_hot(draft_tokens, p.size(1)).bool()
    p_x = p[:K].masked_fill(~at_draft, 0).sum(1)
    q_x = q[:K].masked_fill(~at_draft, 0).sum(1)
    fails = cat([p_x <= uniforms[:K] * q_x, torch.ones_like(uniforms[K:], dtype=torch.bool)])
    first = fails.to(torch.int64).argmax()
    return cat([draft_tokens[:first], replacement[first].unsqueeze(0)])
