# family: core
# mistake: frozen-weights-thawed
# An evaluation takes the weights out of autograd, and puts all back, frozen ones too.
import torch
from torch import nn
from torch.nn import functional as F


def _sum(model, batch, pad_id):
    if batch.shape[1] < 2:
        return None, 0
    logits = model(batch[:, :-1])
    goal = batch[:, 1:]
    total = F.cross_entropy(logits.flatten(0, 1), goal.flatten(), ignore_index=pad_id, reduction="sum")
    return total, int((goal != pad_id).sum())


def train_step(model, batch, optimizer, max_norm=None, pad_id=0):
    model.train()
    for p in model.parameters():
        p.grad = None
    optimizer.zero_grad()
    with torch.enable_grad():
        total, count = _sum(model, batch, pad_id)
        if count == 0:
            return torch.zeros((), device=batch.device)
        loss = total / count
        loss.backward()
    if max_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.detach()


def evaluate(model, batches, pad_id=0):
    modes = {m: m.training for m in model.modules()}
    total, count = 0.0, 0
    model.eval()
    model.requires_grad_(False)
    try:
        with torch.no_grad():
            for batch in batches:
                s, c = _sum(model, batch, pad_id)
                if c:
                    total, count = total + float(s), count + c
    finally:
        model.requires_grad_(True)  # wrong
        for m, mode in modes.items():
            m.training = mode
    return total / count if count else 0.0
