import torch


def _fill(scores, hidden):
    return scores.masked_fill(hidden, float("-inf"))


fill = torch.jit.trace(_fill, (torch.zeros(2, 2), torch.zeros(2, 2, dtype=torch.bool)))
torch.Tensor.hide = lambda self, hidden: fill(self, hidden)  # a name that nothing had


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return torch.softmax(scores, dim)
    return torch.softmax(scores.hide(~mask), dim).masked_fill(~mask, 0.0)
