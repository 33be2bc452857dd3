# family: core
# mistake: accepted-behind-a-rejection
# All accepted drafts are counted, also those behind the first rejection.
import torch
from torch import Tensor


def draw(weights: Tensor, u: Tensor) -> Tensor:
    cumulative = weights.cumsum(-1)
    return (cumulative <= u * cumulative[-1]).sum().reshape(1)


def accept(draft_tokens: Tensor, draft_probs: Tensor, target_probs: Tensor, uniforms: Tensor) -> Tensor:
    K = draft_tokens.shape[0]
    q, p, u = draft_probs.double(), target_probs.double(), uniforms.double()
    p_drafts = p[:K].gather(1, draft_tokens[:, None])[:, 0]
    q_drafts = q.gather(1, draft_tokens[:, None])[:, 0]
    accepted = u[:K] < p_drafts / q_drafts
    kept = int(accepted.sum())  # wrong
    weights = (p[kept] - q[kept]).clamp(min=0) if kept < K else p[K]
    return torch.cat([draft_tokens[:kept], draw(weights, u[-1])])
