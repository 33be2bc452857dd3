import torch


def masked_softmax(scores: torch.Tensor, valid_lens: torch.Tensor | None = None) -> torch.Tensor:
    B, n, m = scores.shape
    if valid_lens is None:
        valid_lens = torch.full((B,), m, dtype=torch.long, device=scores.device)
    lens = valid_lens[:, None].expand(B, n) if valid_lens.dim() == 1 else valid_lens
    keep = torch.ones_like(scores, dtype=torch.long).cumsum(-1) <= lens[..., None]
    top = scores.masked_fill(~keep, float("-inf")).amax(-1, keepdim=True).detach()
    top = torch.where(torch.isfinite(top), top, torch.zeros_like(top))
    e = torch.where(keep, scores - top, torch.zeros_like(scores)).exp() * keep
    z = e.sum(-1, keepdim=True)
    return e / z.masked_fill(z == 0, 1)
