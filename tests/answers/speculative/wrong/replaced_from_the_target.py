# family: core
# mistake: drawn-from-the-target
import torch


def accept(draft_tokens, draft_probs, target_probs, uniforms):
    K = draft_tokens.shape[0]
    kept = 0
    while kept < K:
        x = draft_tokens[kept]
        if uniforms[kept] >= target_probs[kept, x] / draft_probs[kept, x]:
            break
        kept += 1
    cdf = torch.cumsum(target_probs[kept], 0)
    extra = torch.searchsorted(cdf, uniforms[-1:] * cdf[-1], right=True)
    return torch.cat([draft_tokens[:kept], extra])
