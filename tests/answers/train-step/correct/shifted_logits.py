import torch
import torch.nn.functional as F


def train_step(model, batch, optimizer, max_norm=None, pad_id=0):
    model.train()
    logits = model(batch)
    shift_logits = logits[:, :-1, :].contiguous()
    shift_labels = batch[:, 1:].contiguous()
    per_token = F.cross_entropy(
        shift_logits.view(-1, shift_logits.size(-1)), shift_labels.view(-1), reduction="none"
    )
    mask = (shift_labels.view(-1) != pad_id).to(per_token.dtype)
    loss = (per_token * mask).sum() / mask.sum().clamp(min=1.0)

    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    if max_norm is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()


@torch.no_grad()
def evaluate(model, batches, pad_id=0):
    training = model.training
    model.eval()
    total_loss, total_tokens = 0.0, 0
    for batch in batches:
        logits = model(batch)[:, :-1]
        labels = batch[:, 1:]
        keep = labels != pad_id
        losses = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
        total_loss += (losses * keep).sum().item()
        total_tokens += int(keep.sum())
    model.train(training)
    return total_loss / total_tokens if total_tokens else 0.0
