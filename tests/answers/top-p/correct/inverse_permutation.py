import torch


@torch.no_grad()
def top_p_filter(logits, p):
    work = logits if logits.dtype == torch.float64 else logits.float()
    probs = torch.exp(work - torch.logsumexp(work, dim=-1, keepdim=True))
    order = (-probs).argsort(dim=-1, stable=True)
    back = order.argsort(dim=-1)
    ranked = probs.gather(-1, order)
    zero = torch.zeros_like(ranked[..., :1])
    before = torch.cat([zero, ranked.cumsum(-1)[..., :-1]], dim=-1)
    count = (before < p).sum(-1, keepdim=True).clamp(min=1)
    if p == 1:
        count = torch.full_like(count, logits.size(-1))
    return logits.masked_fill(back >= count, -torch.inf)
