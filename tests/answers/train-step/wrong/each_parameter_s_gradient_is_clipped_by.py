# family: core
# mistake: clipped-one-by-one
# Each parameter's gradient is clipped by itself instead of all of them together.
from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    before = [(m, m.training) for m in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for m, flag in before:
            m.training = flag


def _nll(model: nn.Module, batch: Tensor, pad_id: int) -> tuple[Tensor, Tensor]:
    wanted = batch[:, 1:]
    real = wanted != pad_id
    logp = model(batch[:, :-1]).log_softmax(dim=-1)
    picked = logp.gather(-1, wanted.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    return -picked.masked_fill(~real, 0.0).sum(), real.sum()


def train_step(
    model: nn.Module, batch: Tensor, optimizer: torch.optim.Optimizer, max_norm: float | None = None, pad_id: int = 0
) -> Tensor:
    model.train(True)
    optimizer.zero_grad(set_to_none=True)
    if batch.shape[1] < 2:
        return batch.new_zeros((), dtype=torch.float32)
    total, count = _nll(model, batch, pad_id)
    loss = total / count.clamp_min(1)
    loss.backward()
    if max_norm is not None:
        for parameter in model.parameters():
            nn.utils.clip_grad_norm_(parameter, max_norm)  # wrong
    optimizer.step()
    return loss.detach()


def evaluate(model: nn.Module, batches: Iterable[Tensor], pad_id: int = 0) -> float:
    total, count = 0.0, 0
    with _evaluating(model):
        for batch in batches:
            if batch.shape[1] < 2:
                continue
            nll, real = _nll(model, batch, pad_id)
            total, count = total + float(nll), count + int(real)
    return total / max(count, 1)
