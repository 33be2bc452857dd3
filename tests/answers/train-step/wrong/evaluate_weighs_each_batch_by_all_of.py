# family: core
# mistake: none
# Evaluate weighs each batch by all of its targets, padding included.
import torch
from torch import nn
from torch.nn.functional import cross_entropy


def _loss(model, batch, pad_id):
    """mean over the real targets of a batch, or None where there is none"""
    x, y = batch[:, :-1], batch[:, 1:]
    if not bool((y != pad_id).any()):
        return None
    return cross_entropy(model(x).transpose(1, 2), y, ignore_index=pad_id)


def train_step(model, batch, optimizer, max_norm=None, pad_id=0):
    model.train()
    optimizer.zero_grad()
    loss = _loss(model, batch, pad_id)
    if loss is None:
        return torch.zeros((), device=batch.device)
    loss.backward()
    if max_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.detach()


@torch.no_grad()
def evaluate(model, batches, pad_id=0):
    # remember the mode of every submodule, somebody may have frozen one
    was = {m: m.training for m in model.modules()}
    model.eval()
    weighted, tokens = 0.0, 0
    for batch in batches:
        loss = _loss(model, batch, pad_id)
        if loss is None:
            continue
        n = batch[:, 1:].numel()  # wrong
        weighted += loss.item() * n
        tokens += n
    for m, mode in was.items():
        m.training = mode
    return weighted / tokens if tokens else 0.0
