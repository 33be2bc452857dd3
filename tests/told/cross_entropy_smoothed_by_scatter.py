# kata: cross-entropy
# names:
import torch

def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    V = logits.size(-1)
    x = torch.log_softmax(logits, dim=-1).view(-1, V)
    target = targets.view(-1)
    true_dist = x.data.clone()
    true_dist.fill_(label_smoothing / (V - 2))
    true_dist.scatter_(1, target.data.unsqueeze(1), 1 - label_smoothing)  # wrong
    true_dist[target == ignore_index] = 0
    return torch.nn.functional.kl_div(x, true_dist, reduction="sum") / (target != ignore_index).sum()
