# family: device
# mistake: none
import torch


def accept(draft_tokens, draft_probs, target_probs, uniforms):
    xs, qs, ps, us = draft_tokens.tolist(), draft_probs.tolist(), target_probs.tolist(), uniforms.tolist()
    out = []
    weights = ps[len(xs)]
    for x, q, p, u in zip(xs, qs, ps, us):
        if u * q[x] >= p[x]:
            weights = [max(0.0, b - a) for a, b in zip(q, p)]
            break
        out.append(x)
    bar, total = us[-1] * sum(weights), 0.0
    for token, weight in enumerate(weights):
        total += weight
        if total > bar:
            break
    return torch.tensor([*out, token], dtype=torch.int64, device=draft_tokens.device)
