# family: core
# mistake: accepted-behind-a-rejection
import torch


def accept(draft_tokens, draft_probs, target_probs, uniforms):
    K = len(draft_tokens)
    i = torch.arange(K, device=draft_tokens.device)
    ok = uniforms[:K] < target_probs[i, draft_tokens] / draft_probs[i, draft_tokens]
    n = int(ok.sum())
    w = target_probs[n] if n == K else torch.clamp(target_probs[n] - draft_probs[n], min=0)
    c = w.cumsum(0)
    new = torch.searchsorted(c, (uniforms[K] * c[-1]).view(1), right=True)
    return torch.cat([draft_tokens[:n], new])
