# family: core
# mistake: keys-transposed-from-the-left
# Transposes axes 1 and 2, which are the last two only for inputs of three axes.
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    root = torch.tensor(float(k.shape[-1])).sqrt().item()
    k_t = k.transpose(1, 2)  # wrong
    scores = torch.matmul(q, k_t) / root

    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
        weights = weights.masked_fill(~mask, 0.0)

    output = torch.matmul(weights, v)
    return output, weights
