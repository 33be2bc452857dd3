import torch


def accept(draft_tokens, draft_probs, target_probs, uniforms):
    tokens = []
    distribution = None
    for x, q, p, u in zip(draft_tokens, draft_probs, target_probs, uniforms):
        if not u * q[x] < p[x]:
            distribution = (p - q).clamp_min(0)
            break
        tokens.append(x)
    if distribution is None:
        distribution = target_probs[len(draft_tokens)]
    threshold = distribution.sum() * uniforms[-1]
    total = torch.zeros_like(threshold)
    for token in range(distribution.numel()):
        total = total + distribution[token]
        if total > threshold:
            break
    tokens.append(torch.full_like(uniforms[-1], token, dtype=torch.int64))
    return torch.stack(tokens)
