import torch


def noam(step, d_model, warmup):
    if step < 0 or warmup < 1:
        raise ValueError("step >= 0, warmup >= 1")
    s = torch.tensor(float(step), dtype=torch.float64)
    return (d_model**-0.5 * torch.minimum(s.rsqrt(), s * warmup**-1.5)).item()


def cosine(step, peak, warmup, total, floor=0.0):
    if step < 0 or warmup < 0 or total < warmup:
        raise ValueError("0 <= step, 0 <= warmup <= total")
    if step >= total:
        return float(floor)
    if step < warmup:
        return peak * step / warmup
    progress = torch.tensor((step - warmup) / (total - warmup), dtype=torch.float64)
    return (floor + (peak - floor) * (1 + torch.cos(torch.pi * progress)) / 2).item()
