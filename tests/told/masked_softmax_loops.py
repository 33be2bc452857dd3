# kata: masked-softmax
# names:
import torch


def masked_softmax(scores, mask=None, dim=-1):
    x = scores.movedim(dim, -1)
    m = torch.ones_like(x, dtype=torch.bool) if mask is None else mask.expand_as(scores).movedim(dim, -1)
    out = torch.zeros_like(x)
    flat, keep, rows = x.reshape(-1, x.size(-1)), m.reshape(-1, x.size(-1)), out.view(-1, x.size(-1))  # wrong
    for r in range(flat.size(0)):
        seen = flat[r][keep[r]]
        if seen.numel():
            e = torch.exp(seen - seen.max())
            rows[r][keep[r]] = e / e.mean()  # wrong
    return out.movedim(-1, dim)
