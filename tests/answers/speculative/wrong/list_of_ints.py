# family: core
# mistake: none
"""Returns a list of Python integers."""


def accept(draft_tokens, draft_probs, target_probs, uniforms):
    K = len(draft_tokens)
    tokens = []
    weights = target_probs[K]
    for i in range(K):
        x = int(draft_tokens[i])
        if float(uniforms[i]) * float(draft_probs[i, x]) < float(target_probs[i, x]):
            tokens.append(x)
        else:
            weights = (target_probs[i] - draft_probs[i]).clamp(min=0)
            break
    sums = weights.cumsum(0)
    tokens.append(int((sums <= uniforms[K] * sums[-1]).sum()))
    return tokens
