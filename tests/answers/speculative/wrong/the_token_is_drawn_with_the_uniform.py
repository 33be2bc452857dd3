# family: core
# mistake: drawn-with-the-rejecting-uniform
# The token is drawn with the uniform at the place of the rejection, not with the last one.
import torch
from torch import Tensor


def accept(draft_tokens: Tensor, draft_probs: Tensor, target_probs: Tensor, uniforms: Tensor) -> Tensor:
    K = len(draft_tokens)
    p, q, u = (t.to(torch.float64) for t in (target_probs, draft_probs, uniforms))
    index = draft_tokens.unsqueeze(-1)
    rejected = u[:K] * q.gather(-1, index).squeeze(-1) >= p[:K].gather(-1, index).squeeze(-1)
    # the K-th place always "rejects": there the target itself is left over
    rejected = torch.cat([rejected, rejected.new_ones(1)])
    first = rejected.int().argmax().item()
    rest = torch.cat([(p[:K] - q).relu(), p[K:]])[first]
    cum = rest.cumsum(0)
    drawn = (cum > u[first] * cum[-1]).int().argmax()  # wrong
    return torch.cat([draft_tokens[:first], drawn.view(1)])
