# kata: rope
# names: exponent-not-doubled, no-gradient
import torch
from torch import Tensor


def rotary_angles(seq_len, d_head, base=10000.0, offset=0, device=None):
    p = torch.arange(offset, offset + seq_len, device=device).double().reshape(-1, 1)
    i = torch.arange(d_head // 2, device=device).double().reshape(1, -1)
    angle = p / float(base) ** (i / d_head)  # wrong, named
    return angle.cos().to(torch.get_default_dtype()), angle.sin().to(torch.get_default_dtype())  # unseen beside line 10


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    kind = torch.promote_types(x.dtype, torch.promote_types(cos.dtype, torch.float32))
    c, s = cos.to(kind), sin.to(kind)
    # (S, d_head / 2, 2, 2): [[c, -s], [s, c]] for each pair
    matrix = torch.stack((torch.stack((c, -s), -1), torch.stack((s, c), -1)), -2)
    pairs = x.detach().to(kind).unflatten(-1, (-1, 2)).unsqueeze(-2)  # wrong
    return (matrix * pairs).sum(-1).flatten(-2).to(x.dtype)
