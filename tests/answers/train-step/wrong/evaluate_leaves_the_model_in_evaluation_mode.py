# family: core
# mistake: mode-not-restored
# Evaluate leaves the model in evaluation mode.
import torch
from torch import nn


def _nll(model, batch, pad_id):
    x, y = batch[:, :-1], batch[:, 1:]
    keep = (y != pad_id)
    n = int(keep.sum())
    if n == 0:
        return None, 0
    out = model(x)
    out = out if out.dtype == torch.float64 else out.float()
    loss = nn.CrossEntropyLoss(ignore_index=pad_id, reduction="sum")(out.transpose(1, 2), y)
    return loss, n


def train_step(model, batch, optimizer, max_norm=None, pad_id=0):
    model.train()
    optimizer.zero_grad()
    s, n = _nll(model, batch, pad_id)
    if n == 0:
        return torch.zeros(())
    loss = s / n
    loss.backward()
    if max_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.detach()


def evaluate(model, batches, pad_id=0):
    model.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for batch in batches:
            s, n = _nll(model, batch, pad_id)
            if n > 0:
                total += s.item()
                count += n
    return total / max(count, 1)  # wrong
