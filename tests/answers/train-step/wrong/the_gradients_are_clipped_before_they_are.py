# family: core
# mistake: clipped-after-the-step
# The gradients are clipped before they are computed, so that max_norm has no effect.
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def summed_loss(model: nn.Module, batch: Tensor, pad_id: int) -> tuple[Tensor, Tensor]:
    logits = model(batch[:, :-1])
    targets = batch[:, 1:]
    wide = torch.promote_types(logits.dtype, torch.float32)
    loss = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]).to(wide), targets.reshape(-1), ignore_index=pad_id, reduction="sum"
    )
    return loss, (targets != pad_id).sum()


def train_step(
    model: nn.Module, batch: Tensor, optimizer: torch.optim.Optimizer, max_norm: float | None = None, pad_id: int = 0
) -> Tensor:
    model.train()
    if batch.shape[1] < 2:
        return torch.zeros((), device=batch.device)
    optimizer.zero_grad()
    with torch.enable_grad():
        total, count = summed_loss(model, batch, pad_id)
        loss = total / count.clamp(min=1)
        if max_norm is not None:
            nn.utils.clip_grad_norm_(model.parameters(), max_norm)  # wrong
        loss.backward()
    optimizer.step()
    return loss.detach()


def evaluate(model: nn.Module, batches: Iterable[Tensor], pad_id: int = 0) -> float:
    modes = [(module, module.training) for module in model.modules()]
    total, count = 0.0, 0
    model.eval()
    try:
        with torch.no_grad():
            for batch in batches:
                if batch.shape[1] < 2:
                    continue
                batch_total, batch_count = summed_loss(model, batch, pad_id)
                total = total + batch_total
                count = count + batch_count
    finally:
        for module, mode in modes:
            module.training = mode
    return float(total / max(int(count), 1))
