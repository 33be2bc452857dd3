# family: contract
# mistake: left-to-autograd
import torch
import torch.nn.functional as F


def attention_backward(q, k, v, d_output, mask=None):
    dtype = q.dtype
    wide = torch.promote_types(dtype, torch.float32)
    with torch.enable_grad():
        q, k, v = (t.detach().to(wide).clone().requires_grad_() for t in (q, k, v))
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        out.backward(d_output.detach().to(wide))
    return q.grad.to(dtype), k.grad.to(dtype), v.grad.to(dtype)
