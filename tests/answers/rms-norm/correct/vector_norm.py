import torch


def rms_norm(x, weight, eps=1e-6):
    kind = torch.float64 if x.dtype == torch.float64 else torch.float32
    h = x.to(kind)
    ms = torch.linalg.vector_norm(h, dim=-1, keepdim=True) ** 2 / h.shape[-1]
    return (weight.to(kind) * h / (ms + eps) ** 0.5).to(x.dtype)
