# family: core
# mistake: none
# The scale is the root of the number of queries, not of the width of the keys.
import torch


def _weights(scores, keep):
    if keep is None:
        return scores.softmax(-1)
    hidden = ~keep
    return scores.masked_fill(hidden, -torch.inf).softmax(-1).masked_fill(hidden, 0)


def scaled_dot_product_attention(q, k, v, mask=None):
    w = _weights(torch.einsum("...id,...jd->...ij", q, k) * q.size(-2) ** -0.5, mask)  # wrong
    return torch.einsum("...ij,...jd->...id", w, v), w
