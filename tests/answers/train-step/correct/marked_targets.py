import torch
from torch import nn

loss_sum = nn.CrossEntropyLoss(reduction="sum", ignore_index=-1)


def sum_and_count(model, tokens, pad_id):
    goal = tokens[:, 1:].clone()
    goal[goal == pad_id] = -1
    logits = model(tokens[:, :-1])
    return loss_sum(logits.permute(0, 2, 1), goal), (goal != -1).sum()


def train_step(model, batch, optimizer, max_norm=None, pad_id=0):
    optimizer.zero_grad()
    model.train()
    s, n = sum_and_count(model, batch, pad_id)
    loss = s / n.clamp_min(1)
    loss.backward()
    if max_norm is not None:
        total = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
        scale = (max_norm / (total + 1e-6)).clamp(max=1.0)
        with torch.no_grad():
            for p in model.parameters():
                p.grad.mul_(scale)
    optimizer.step()
    return loss.item()


def evaluate(model, batches, pad_id=0):
    was = {name: module.training for name, module in model.named_modules()}
    model.eval()
    s = n = 0.0
    with torch.no_grad():
        for batch in batches:
            one, many = sum_and_count(model, batch, pad_id)
            s, n = s + one, n + many
    for name, module in model.named_modules():
        module.training = was[name]
    return s / max(n, 1.0)
