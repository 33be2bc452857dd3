# family: core
# mistake: clipped-after-the-step
# The gradients are clipped before there are any, ahead of backward.
import torch
import torch.nn.functional as F
from torch import Tensor, nn


def sum_and_count(model, batch, pad_id):
    """Sum of the losses of all tokens that count, and how many there are."""
    targets = batch[:, 1:]
    if targets.numel() == 0:
        zero = torch.zeros((), device=batch.device)
        return zero, torch.zeros((), dtype=torch.int64, device=batch.device)
    logits = model(batch[:, :-1])
    total = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id, reduction="sum")
    return total, (targets != pad_id).sum()


def train_step(model: nn.Module, batch: Tensor, optimizer, max_norm: float | None = None, pad_id: int = 0) -> Tensor:
    model.train()
    optimizer.zero_grad()
    total, count = sum_and_count(model, batch, pad_id)
    loss = total / count.clamp(min=1)
    if max_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)  # wrong
    if loss.requires_grad:
        loss.backward()
    optimizer.step()
    return loss.detach()


def evaluate(model: nn.Module, batches, pad_id: int = 0) -> float:
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    total, count = 0.0, 0
    try:
        with torch.no_grad():
            for batch in batches:
                t, c = sum_and_count(model, batch, pad_id)
                total, count = total + t, count + c
    finally:
        for module, mode in modes:
            module.training = mode
    return float(total / max(int(count), 1))
