# family: core
# mistake: weight-first
# The features are scaled before their root mean square is taken, so the weight is normalised away.
from torch import Tensor, float32, float64


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    kind = float64 if x.dtype == float64 else float32
    y = x.to(kind) * weight.to(kind)  # wrong
    d = y.size(-1)
    square_sum = (y * y).sum(-1, keepdim=True)
    root = (square_sum / d + eps).sqrt()
    y = y / root
    return y.to(x.dtype)
