# family: core
# mistake: none
"""Goes on behind a rejection: every place gets a token."""

import torch


def draw(w, u):
    c = w.cumsum(0)
    return (c <= u * c[-1]).sum()


def accept(draft_tokens, draft_probs, target_probs, uniforms):
    K = len(draft_tokens)
    out = []
    for i in range(K):
        x = draft_tokens[i]
        if uniforms[i] < target_probs[i, x] / draft_probs[i, x]:
            out.append(x)
        else:
            out.append(draw((target_probs[i] - draft_probs[i]).clamp(min=0), uniforms[K]))
    out.append(draw(target_probs[K], uniforms[K]))
    return torch.stack(out)
