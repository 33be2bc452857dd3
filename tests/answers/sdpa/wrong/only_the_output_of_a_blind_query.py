# family: core
# mistake: output-cleaned-only
# Only the output of a blind query is set to 0, its returned weights stay NaN.
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scale = k.shape[-1] ** -0.5
    s = torch.einsum("...nd,...md->...nm", q, k) * scale
    if mask is not None:
        s = torch.where(mask, s, torch.full_like(s, float("-inf")))
    w = s.softmax(-1)  # wrong
    out = torch.einsum("...nm,...md->...nd", w, v)
    if mask is not None:
        out = out.masked_fill(~mask.any(-1, keepdim=True), 0.0)
    return out, w
