import torch


class Sampler:
    """Draws ids from distributions with uniforms that are handed in."""

    def __init__(self, u):
        self.u = u

    def __call__(self, weights):
        probs = weights / weights.sum()
        cumulative = torch.cumsum(probs, dim=-1)
        inside = cumulative > self.u
        # rounding may leave the last sum a little below the uniform
        inside = inside | (torch.arange(len(probs), device=probs.device) == weights.nonzero().max())
        return inside.to(torch.uint8).argmax()


def accept(draft_tokens, draft_probs, target_probs, uniforms):
    q, p, u = draft_probs.double(), target_probs.double(), uniforms.double()
    keep = draft_tokens.shape[0]
    ratio = (p[:keep] / q).gather(1, draft_tokens.reshape(-1, 1)).flatten()
    ok = u[:keep] < torch.minimum(ratio, torch.ones_like(ratio))
    if not torch.all(ok):
        keep = int((~ok).to(torch.uint8).argmax())
    sample = Sampler(u[-1])
    if keep == len(draft_tokens):
        last = sample(p[-1])
    else:
        last = sample(torch.maximum(p[keep] - q[keep], torch.zeros_like(p[keep])))
    result = draft_tokens.new_empty(keep + 1)
    result[:keep] = draft_tokens[:keep]
    result[keep] = last
    return result
