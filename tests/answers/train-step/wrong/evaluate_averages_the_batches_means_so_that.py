# family: core
# mistake: mean-of-batches-that-count
# Evaluate averages the batches' means, so that tokens in small batches weigh more.
from collections.abc import Iterable

import torch
from torch import Tensor, nn


def token_losses(model: nn.Module, batch: Tensor, pad_id: int) -> tuple[Tensor, Tensor]:
    inputs, targets = batch[:, :-1], batch[:, 1:]
    counts = targets.ne(pad_id)
    logits = model(inputs)
    logits = logits if logits.dtype == torch.float64 else logits.float()
    nll = -logits.log_softmax(-1).gather(-1, targets.masked_fill(~counts, 0).unsqueeze(-1)).squeeze(-1)
    return nll.masked_fill(~counts, 0.0), counts


def train_step(
    model: nn.Module, batch: Tensor, optimizer: torch.optim.Optimizer, max_norm: float | None = None, pad_id: int = 0
) -> Tensor:
    model.train()
    if batch.size(1) == 1:
        return torch.tensor(0.0, device=batch.device)
    with torch.enable_grad():
        nll, counts = token_losses(model, batch, pad_id)
        loss = nll.sum() / counts.sum().clamp(min=1)
        optimizer.zero_grad()
        loss.backward()
    if max_norm is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.detach()


@torch.no_grad()
def evaluate(model: nn.Module, batches: Iterable[Tensor], pad_id: int = 0) -> float:
    before = {module: module.training for module in model.modules()}
    model.eval()
    losses = []
    for batch in batches:
        if batch.size(1) > 1 and bool((batch[:, 1:] != pad_id).any()):
            nll, counts = token_losses(model, batch, pad_id)
            losses.append(nll.sum() / counts.sum())  # wrong
    for module, training in before.items():
        module.training = training
    return torch.stack(losses).mean().item() if losses else 0.0
