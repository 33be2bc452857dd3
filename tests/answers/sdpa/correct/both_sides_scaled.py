import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    """Half of the scale on either side, as PyTorch's own math kernel does it."""
    root = k.shape[-1] ** 0.25
    scores = (q / root) @ (k / root).mT
    if mask is None:
        weights = torch.softmax(scores, -1)
        return weights @ v, weights
    nobody = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~(mask | nobody), float("-inf"))
    weights = torch.softmax(scores, -1).masked_fill(nobody, 0)
    return weights @ v, weights
