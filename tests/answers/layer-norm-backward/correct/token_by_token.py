import torch


def one(token, weight, g, eps):
    d = token.numel()
    centred = token - token.sum() / d
    sigma = torch.sqrt((centred @ centred) / d + eps)
    normed = centred / sigma
    g_normed = g * weight
    dx = (g_normed - g_normed.sum() / d - normed * (g_normed @ normed) / d) / sigma
    return dx, g * normed


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    wide = x.dtype if x.dtype == torch.float64 else torch.float32
    d = x.shape[-1]
    w = weight.to(wide)
    pairs = zip(x.to(wide).reshape(-1, d).unbind(0), d_output.to(wide).reshape(-1, d).unbind(0), strict=True)
    rows = [one(token, w, g, eps) for token, g in pairs]
    dx = torch.stack([row[0] for row in rows]).reshape(x.shape)
    d_weight = torch.stack([row[1] for row in rows]).sum(0)
    d_bias = d_output.to(wide).reshape(-1, d).sum(0)
    return dx.to(x.dtype), d_weight.to(x.dtype), d_bias.to(x.dtype)
