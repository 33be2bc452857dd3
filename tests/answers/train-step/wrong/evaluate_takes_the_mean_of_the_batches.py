# family: core
# mistake: mean-of-batches-that-count
# Evaluate takes the mean of the batches' means, not one mean over all tokens.
import torch
from torch import Tensor, nn


def next_token_loss(model: nn.Module, batch: Tensor, pad_id: int):
    """mean over what counts, or None where nothing does"""
    inputs, targets = batch[:, :-1], batch[:, 1:]
    real = targets != pad_id
    if not bool(real.any()):
        return None
    logits = model(inputs)
    if logits.dtype != torch.float64:
        logits = logits.float()
    logp = logits.log_softmax(dim=-1)
    nll = -logp.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return nll[real].mean()


def train_step(model, batch, optimizer, max_norm=None, pad_id=0):
    model.train()
    optimizer.zero_grad()
    loss = next_token_loss(model, batch, pad_id)
    if loss is None:
        return torch.tensor(0.0)
    loss.backward()
    if max_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.detach()


def evaluate(model, batches, pad_id=0):
    before = {m: m.training for m in model.modules()}
    model.eval()
    losses = []
    with torch.no_grad():
        for batch in batches:
            loss = next_token_loss(model, batch, pad_id)
            if loss is not None:
                losses.append(loss)
    for m, mode in before.items():
        m.training = mode
    if not losses:
        return 0.0
    return torch.stack(losses).mean().item()  # wrong
