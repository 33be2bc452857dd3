import torch
from torch import Tensor, nn


def nadaraya_watson(x_query: Tensor, x_key: Tensor, y_key: Tensor, bandwidth: float = 1.0):
    """-(x - k)²/2 = xk - k²/2 - x²/2, and a softmax does not care for the last term."""
    centre = x_key.mean().detach()
    x, k = (x_query - centre) / bandwidth, (x_key - centre) / bandwidth
    weights = torch.softmax(torch.outer(x, k) - k.square() / 2, dim=-1)
    return weights @ y_key, weights


def leave_one_out(x: Tensor, y: Tensor):
    n = x.size(0)
    lower = torch.ones(n, n - 1, dtype=torch.bool, device=x.device).tril(-1)
    return tuple(torch.where(lower, points[:-1], points[1:]) for points in (x, y))


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros([]))

    def forward(self, queries, keys, values):
        squares = torch.pow((queries[..., None] - keys) * self.w, 2)
        total = torch.logsumexp(-squares / 2, dim=-1, keepdim=True)
        return ((-squares / 2 - total).exp() * values).sum(-1)

    def loss(self, x, y):
        """All at once: the own key is hidden in the square of all pairs."""
        squares = torch.pow((x[:, None] - x) * self.w, 2)
        own = torch.eye(len(x), dtype=torch.bool, device=x.device)
        weights = torch.softmax((-squares / 2).masked_fill(own, float("-inf")), dim=-1)
        return (weights @ y - y).pow(2).mean()
