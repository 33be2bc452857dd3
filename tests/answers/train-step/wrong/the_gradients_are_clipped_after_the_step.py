# family: core
# mistake: clipped-after-the-step
# The gradients are clipped after the step.
import torch
import torch.nn.functional as F
from torch.nn.utils import clip_grad_norm_


def train_step(model, batch, optimizer, max_norm=None, pad_id=0):
    model.train()
    optimizer.zero_grad()
    target = batch[:, 1:]
    n = (target != pad_id).sum().item()
    if n == 0:
        return batch.new_zeros((), dtype=torch.float32)
    logits = model(batch)[:, :-1]
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    loss = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad_id)
    loss.backward()
    optimizer.step()
    if max_norm is not None:
        clip_grad_norm_(model.parameters(), max_norm)  # wrong
    return loss.detach()


def evaluate(model, batches, pad_id=0):
    training = [m for m in model.modules() if m.training]
    model.eval()
    total = 0.0
    tokens = 0
    with torch.no_grad():
        for batch in batches:
            target = batch[:, 1:]
            n = (target != pad_id).sum().item()
            if n == 0:
                continue
            logits = model(batch)[:, :-1]
            logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
            total += F.cross_entropy(
                logits.flatten(0, 1), target.flatten(), ignore_index=pad_id, reduction="sum"
            ).item()
            tokens += n
    for m in training:
        m.training = True
    return total / tokens if tokens else 0.0
