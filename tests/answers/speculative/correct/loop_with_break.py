import torch


def draw(weights, u):
    total = weights.sum()
    cdf = torch.cumsum(weights, dim=0)
    return torch.argmax((cdf > u * total).int()).reshape(1)


def accept(draft_tokens, draft_probs, target_probs, uniforms):
    k = len(draft_tokens)
    for i in range(k):
        x = draft_tokens[i]
        if uniforms[i] >= target_probs[i, x] / draft_probs[i, x]:
            rest = torch.clamp(target_probs[i] - draft_probs[i], min=0.0)
            return torch.cat((draft_tokens[:i], draw(rest, uniforms[k])))
    return torch.cat((draft_tokens, draw(target_probs[k], uniforms[k])))
