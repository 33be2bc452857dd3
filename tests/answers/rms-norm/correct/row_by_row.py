import torch


def rms_norm(x, weight, eps=1e-6):
    rows = x.reshape(-1, x.shape[-1])
    out = []
    for row in rows:
        r = row if row.dtype == torch.float64 else row.float()
        rms = (torch.dot(r, r) / len(r) + eps).sqrt()
        out.append((r / rms * weight).to(x.dtype))
    return torch.stack(out).reshape(x.shape)
