# family: core
# mistake: not-shifted
# The targets are not shifted, each token is to predict itself.
import torch
import torch.nn.functional as F


def _loss_sum(model, batch, pad_id):
    if batch.shape[1] < 2:
        return None, 0
    targets = batch[:, :-1]  # wrong
    count = (targets != pad_id).sum()
    if count == 0:
        return None, 0
    logits = model(batch[:, :-1])
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    total = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1),
                            ignore_index=pad_id, reduction="sum")
    return total, count


def train_step(model, batch, optimizer, max_norm=None, pad_id=0):
    model.train()
    optimizer.zero_grad()
    total, count = _loss_sum(model, batch, pad_id)
    if total is None:
        return torch.zeros((), device=batch.device)
    loss = total / count
    loss.backward()
    if max_norm is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.detach()


@torch.no_grad()
def evaluate(model, batches, pad_id=0):
    modes = [(mod, mod.training) for mod in model.modules()]
    model.eval()
    total, count = 0.0, 0
    try:
        for batch in batches:
            s, c = _loss_sum(model, batch, pad_id)
            if s is not None:
                total = total + s.double()
                count = count + c
    finally:
        for mod, mode in modes:
            mod.training = mode
    return float(total / count) if count else 0.0
