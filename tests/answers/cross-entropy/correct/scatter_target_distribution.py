import torch


def cross_entropy(
    logits: torch.Tensor, targets: torch.Tensor, ignore_index: int = -100, label_smoothing: float = 0.0
) -> torch.Tensor:
    work = logits.double() if logits.dtype == torch.float64 else logits.float()
    counted = targets.ne(ignore_index).unsqueeze(-1)
    share = label_smoothing / work.shape[-1]
    goal = torch.full_like(work, share)
    goal.scatter_add_(
        -1, targets.unsqueeze(-1) * counted, torch.full_like(work[..., :1], 1.0 - label_smoothing)
    )
    goal = goal * counted
    loss = -(goal * torch.log_softmax(work, -1))
    return loss.sum().div(counted.sum().clamp(min=1)).to(logits.dtype)
