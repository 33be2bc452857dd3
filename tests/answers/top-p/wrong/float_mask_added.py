# family: dtype
# mistake: float32-result
import torch


def top_p_filter(logits, p):
    values, idx = torch.sort(logits, descending=True, dim=-1, stable=True)
    probs = torch.softmax(values, dim=-1, dtype=torch.float32)
    remove = probs.cumsum(-1) - probs >= p
    remove[..., 0] = False
    bias = torch.zeros(logits.shape, device=logits.device)
    bias = bias.masked_fill(remove.scatter(-1, idx, remove), float("-inf"))
    return logits + bias
