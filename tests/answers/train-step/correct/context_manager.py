from contextlib import contextmanager

import torch
from torch.nn.functional import cross_entropy


@contextmanager
def mode(model, training):
    before = model.training
    model.train(training)
    try:
        yield
    finally:
        model.train(before)


def mean_loss(model, batch, pad_id):
    inputs, targets = batch[:, :-1], batch[:, 1:]
    logits = model(inputs)
    if not (targets != pad_id).any():
        return logits.sum() * 0.0, 0
    loss = cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1), ignore_index=pad_id)
    return loss, (targets != pad_id).sum().item()


def train_step(model, batch, optimizer, max_norm=None, pad_id=0):
    with mode(model, True):
        optimizer.zero_grad()
        loss, _ = mean_loss(model, batch, pad_id)
        loss.backward()
        if max_norm is not None:
            torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)
        optimizer.step()
    return loss.detach()


def evaluate(model, batches, pad_id=0):
    with mode(model, False), torch.no_grad():
        total = count = 0
        for batch in batches:
            loss, n = mean_loss(model, batch, pad_id)
            total, count = total + loss * n, count + n
    return total / count if count else 0.0
