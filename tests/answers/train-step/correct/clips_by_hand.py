import math

import torch


def losses_of(model, batch, pad_id):
    logp = torch.log_softmax(model(batch[:, :-1]), dim=-1)
    targets = batch[:, 1:]
    picked = -logp.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    real = targets.ne(pad_id)
    return torch.where(real, picked, 0.0).sum(), real.sum()


def train_step(model, batch, optimizer, max_norm=None, pad_id=0):
    model.train(True)
    for p in model.parameters():
        p.grad = None
    total, n = losses_of(model, batch, pad_id)
    loss = total / torch.clamp(n, min=1)
    loss.backward()
    if max_norm is not None:
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        norm = math.sqrt(sum(float(g.pow(2).sum()) for g in grads))
        if norm > max_norm:
            for g in grads:
                g.mul_(max_norm / norm)
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


def evaluate(model, batches, pad_id=0):
    mode = model.training
    model.eval()
    sums, counts = [], []
    try:
        with torch.inference_mode():
            for batch in batches:
                s, n = losses_of(model, batch, pad_id)
                sums.append(float(s))
                counts.append(int(n))
    finally:
        model.train(mode)
    return sum(sums) / max(sum(counts), 1)
