import torch


def accept(draft_tokens, draft_probs, target_probs, uniforms):
    """u < p / q as log u < log p - log q; torch.log(0) is -inf, which takes care of itself."""
    n_drafts = draft_tokens.numel()
    token = draft_tokens[:, None]
    if draft_probs.dtype in (torch.float16, torch.bfloat16):
        draft_probs, target_probs, uniforms = draft_probs.float(), target_probs.float(), uniforms.float()
    log_p = torch.take_along_dim(target_probs[:-1].log(), token, dim=1).squeeze(1)
    log_q = torch.take_along_dim(draft_probs.log(), token, dim=1).squeeze(1)
    alive = torch.logical_and(uniforms[:-1].log() < log_p - log_q, log_p.isfinite())
    n_kept = torch.cumprod(alive.long(), 0).sum().item()
    weights = target_probs[n_kept].clone()
    if n_kept != n_drafts:
        weights -= draft_probs[n_kept]
        weights[weights < 0] = 0
    running = weights.cumsum(0)
    bar = uniforms[-1] * running[-1]
    ids = torch.arange(weights.numel(), device=weights.device)
    extra = ids.masked_fill(running <= bar, weights.numel()).min()
    return torch.cat([draft_tokens[:n_kept], extra[None]])
