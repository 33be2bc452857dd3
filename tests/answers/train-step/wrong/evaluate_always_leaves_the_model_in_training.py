# family: core
# mistake: always-back-to-training
# Evaluate always leaves the model in training mode, whatever mode it was in.
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass
class Running:
    loss: Tensor | float = 0.0
    tokens: Tensor | int = 0

    def add(self, model: nn.Module, batch: Tensor, pad_id: int) -> None:
        if batch.shape[1] < 2:
            return
        logits = model(batch[:, :-1])
        if logits.dtype in (torch.float16, torch.bfloat16):
            logits = logits.float()
        targets = batch[:, 1:]
        nll = F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=pad_id, reduction="sum")
        self.loss = self.loss + nll
        self.tokens = self.tokens + (targets != pad_id).sum()

    def mean(self, device: torch.device | None = None) -> Tensor:
        if isinstance(self.tokens, int):
            return torch.zeros((), device=device)
        return self.loss / self.tokens.clamp(min=1)


def train_step(
    model: nn.Module, batch: Tensor, optimizer: torch.optim.Optimizer, max_norm: float | None = None, pad_id: int = 0
) -> Tensor:
    model.train()
    optimizer.zero_grad()
    running = Running()
    with torch.enable_grad():
        running.add(model, batch, pad_id)
        loss = running.mean(batch.device)
        if loss.requires_grad:
            loss.backward()
            if max_norm is not None:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
    return loss.detach()


def evaluate(model: nn.Module, batches: Iterable[Tensor], pad_id: int = 0) -> float:
    running = Running()
    model.eval()
    with torch.no_grad():
        for batch in batches:
            running.add(model, batch, pad_id)
    model.train()  # wrong
    return float(running.mean())
