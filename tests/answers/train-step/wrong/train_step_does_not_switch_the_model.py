# family: core
# mistake: stays-in-evaluation
# Train_step does not switch the model to training mode.
import torch
import torch.nn.functional as F
from torch import Tensor, nn


def lm_loss(model: nn.Module, tokens: Tensor, pad_id: int) -> tuple[Tensor, int]:
    src, tgt = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    n = int(torch.count_nonzero(tgt != pad_id))
    if n == 0:
        return torch.zeros((), device=tokens.device), 0
    logits = model(src)
    if logits.dtype in (torch.half, torch.bfloat16):
        logits = logits.float()
    return F.cross_entropy(logits.view(tgt.numel(), -1), tgt.view(-1), ignore_index=pad_id, reduction="sum"), n


def train_step(model, batch, optimizer, max_norm=None, pad_id=0):
    optimizer.zero_grad()  # wrong
    total, n = lm_loss(model, batch, pad_id)
    if n == 0:
        return total
    loss = total / n
    loss.backward()
    if max_norm is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=max_norm)
    optimizer.step()
    return loss.detach()


def evaluate(model, batches, pad_id=0):
    flags = [m.training for m in model.modules()]
    model.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for tokens in batches:
            s, n = lm_loss(model, tokens, pad_id)
            total += float(s)
            count += n
    for m, flag in zip(model.modules(), flags):
        m.training = flag
    return 0.0 if count == 0 else total / count
