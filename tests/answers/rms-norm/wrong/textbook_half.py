# family: dtype
# mistake: squares-in-half
import torch


def rms_norm(x, weight, eps=1e-6):
    rms = torch.sqrt(torch.mean(x**2, dim=-1, keepdim=True) + eps)
    return x / rms * weight
