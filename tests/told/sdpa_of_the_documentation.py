# kata: sdpa
# names: dead-rows-nan
import math
import torch
def scaled_dot_product_attention(q, k, v, mask=None, dropout_p=0.0,
        is_causal=False, scale=None, enable_gqa=False):
    L, S = q.size(-2), k.size(-2)
    scale_factor = 1 / math.sqrt(q.size(-1)) if scale is None else scale
    attn_bias = torch.zeros(L, S, dtype=q.dtype, device=q.device)
    if mask is not None:
        if mask.dtype == torch.bool:
            attn_bias.masked_fill_(mask.logical_not(), float("-inf"))  # wrong
        else:
            attn_bias = mask + attn_bias
    attn_weight = q @ k.transpose(-2, -1) * scale_factor
    attn_weight += attn_bias
    attn_weight = torch.softmax(attn_weight, dim=-1)
    return attn_weight @ v, attn_weight
