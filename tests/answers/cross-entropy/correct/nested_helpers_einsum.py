import torch
from torch import Tensor


def log_probabilities(z: Tensor) -> Tensor:
    z = z - z.amax(-1, keepdim=True)
    return z - torch.log(torch.sum(torch.exp(z), -1, keepdim=True))


def masked_mean(values: Tensor, keep: Tensor) -> Tensor:
    kept = torch.where(keep, values, torch.zeros_like(values))
    return kept.sum() / torch.maximum(keep.sum(), torch.ones_like(keep.sum()))


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    z = logits.to(dtype=torch.promote_types(logits.dtype, torch.float))
    log_p = log_probabilities(z)
    keep = torch.ne(targets, ignore_index)
    classes = torch.arange(z.shape[-1], device=z.device)
    is_target = (classes == targets[..., None]).to(z.dtype)
    nll = -torch.einsum("...v,...v->...", log_p, is_target)
    uniform = -torch.einsum("...v->...", log_p) / z.shape[-1]
    return masked_mean((1 - label_smoothing) * nll + label_smoothing * uniform, keep).to(logits.dtype)
