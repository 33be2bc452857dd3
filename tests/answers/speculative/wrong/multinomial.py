# family: core
# mistake: random-numbers-of-its-own
import torch


def accept(draft_tokens, draft_probs, target_probs, uniforms):
    K = len(draft_tokens)
    for i, x in enumerate(draft_tokens):
        ratio = (target_probs[i, x] / draft_probs[i, x]).clamp(max=1)
        if uniforms[i] < ratio:
            continue
        residual = (target_probs[i] - draft_probs[i]).clamp(min=0)
        residual = residual / residual.sum()
        return torch.cat([draft_tokens[:i], torch.multinomial(residual.float(), 1)])
    return torch.cat([draft_tokens, torch.multinomial(target_probs[K].float(), 1)])
