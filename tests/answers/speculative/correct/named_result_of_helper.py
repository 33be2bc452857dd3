from typing import NamedTuple

import torch


class Decision(NamedTuple):
    kept: int
    weights: torch.Tensor


def decide(tokens, q, p, u) -> Decision:
    place = torch.arange(tokens.shape[0], device=tokens.device)
    probability = torch.clamp(p[place, tokens] / q[place, tokens], max=1)
    reject = (u >= probability).nonzero().flatten()
    if reject.numel() == 0:
        return Decision(tokens.shape[0], p[-1])
    kept = reject[0].item()
    return Decision(kept, torch.relu(p[kept] - q[kept]))


@torch.no_grad()
def accept(draft_tokens, draft_probs, target_probs, uniforms):
    *_, last = uniforms.unbind()
    kept, weights = decide(draft_tokens, draft_probs, target_probs, uniforms[:-1])
    cdf = weights.cumsum(0)
    extra = torch.count_nonzero(~(cdf > last * cdf[-1]))
    return torch.hstack([draft_tokens[:kept], extra])
