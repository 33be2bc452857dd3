# family: core
# mistake: weight-after-the-means
# The weight is applied after the means were taken, not to dL/dy before.
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    f = torch.promote_types(x.dtype, torch.float32)
    X, W, G = (t.to(f) for t in (x, weight, d_output))
    N = X.size(-1)
    X = X - X.narrow(-1, 0, 1)
    X = X - X.sum(-1, keepdim=True) / N
    inv = (X.square().sum(-1, keepdim=True) / N + eps) ** -0.5
    h = X * inv
    s1 = G.sum(-1, keepdim=True)
    s2 = (G * h).sum(-1, keepdim=True)
    dx = W * inv / N * (N * G - s1 - h * s2)  # wrong
    flat = G.reshape(-1, N)
    dW = torch.einsum("td,td->d", flat, h.reshape(-1, N))
    dB = flat.sum(0)
    return tuple(t.to(x.dtype) for t in (dx, dW, dB))
