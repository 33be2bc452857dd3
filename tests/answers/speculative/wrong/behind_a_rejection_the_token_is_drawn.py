# family: core
# mistake: drawn-from-the-target
# Behind a rejection the token is drawn from the target's row itself, not from what it has more than the draft's.
import torch
from torch import Tensor


def accept(draft_tokens: Tensor, draft_probs: Tensor, target_probs: Tensor, uniforms: Tensor) -> Tensor:
    K = draft_tokens.numel()
    places = torch.arange(K, device=draft_tokens.device)
    target, draft, u = target_probs.double(), draft_probs.double(), uniforms.double()
    ratio = target[places, draft_tokens] / draft[places, draft_tokens]
    stands = torch.cumprod((u[:K] < ratio).long(), dim=0)
    kept = stands.sum().item()
    weights = target[kept]  # wrong
    sums = torch.cumsum(weights, dim=0)
    threshold = u[K] * sums[-1]
    token = torch.searchsorted(sums, threshold, right=True)
    return torch.cat((draft_tokens[:kept], token.reshape(1)))
