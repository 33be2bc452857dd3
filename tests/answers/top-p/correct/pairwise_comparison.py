import torch


def top_p_filter(logits, p):
    """No sort: a token is in the nucleus while what ranks ahead of it adds up to less than p."""
    if p >= 1:
        return logits.clone()
    probs = torch.softmax(logits, dim=-1)
    ids = torch.arange(logits.size(-1), device=logits.device)
    mine, theirs = logits.unsqueeze(-1), logits.unsqueeze(-2)
    ahead = (theirs > mine) | ((theirs == mine) & (ids < ids[:, None]))
    before = (ahead.to(probs.dtype) * probs.unsqueeze(-2)).sum(-1)
    keep = (before < p) | ~ahead.any(-1)
    return torch.where(keep, logits, float("-inf"))
