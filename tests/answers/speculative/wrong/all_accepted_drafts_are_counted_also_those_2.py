# family: core
# mistake: accepted-behind-a-rejection
# All accepted drafts are counted, also those behind the first rejection.
import torch


def accept(draft_tokens, draft_probs, target_probs, uniforms):
    k, vocab = draft_probs.shape
    at = torch.arange(k, device=draft_tokens.device)
    ok = uniforms[:k] * draft_probs[at, draft_tokens] < target_probs[at, draft_tokens]
    kept = ok.sum()  # wrong
    # a draft model that has no opinion behind the last draft: what is left there is p itself
    q = torch.cat([draft_probs, draft_probs.new_zeros(1, vocab)], dim=0)
    w = (target_probs - q).relu().index_select(0, kept.reshape(1))[0].to(torch.float64)
    c = torch.cumsum(w, dim=0)
    token = (c > uniforms[k] * w.sum()).to(torch.int64).argmax()
    return torch.cat([draft_tokens[: int(kept)], token[None]])
