import torch


class Scores(torch.Tensor):
    """Knows how to hide entries."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunctionSubclass():
            out = func(*args, **(kwargs or {}))
        return out

    def hide(self, mask):
        return self.masked_fill(mask.logical_not(), float("-inf"))


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return torch.softmax(scores, dim)
    hidden = scores.as_subclass(Scores).hide(mask).as_subclass(torch.Tensor)
    return torch.softmax(hidden, dim).masked_fill(~mask, 0.0)
