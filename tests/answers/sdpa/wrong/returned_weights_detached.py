# family: grad
# mistake: returned-weights-detached
# the weights come back detached: a loss on them reaches nothing
import torch


def attend_weights(scores, mask):
    """Softmax over the visible keys only."""
    if mask is None:
        return scores.softmax(-1)
    hidden = ~mask
    dead = hidden.all(-1, keepdim=True)
    s = scores.masked_fill(hidden, float("-inf")).masked_fill(dead, 0.0)
    return s.softmax(-1).masked_fill(hidden, 0.0)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = attend_weights(q @ k.transpose(-1, -2) / k.shape[-1] ** 0.5, mask)
    return weights @ v, weights.detach()  # wrong
