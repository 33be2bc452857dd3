# family: core
# mistake: turned-backwards
# The rotation turns the other way round (the signs of the sines are exchanged).
import torch
from torch import Tensor


def rotary_angles(
    seq_len: int, d_head: int, base: float = 10000.0, offset: int = 0, device: torch.device | str | None = None
) -> tuple[Tensor, Tensor]:
    theta = torch.tensor(
        [base ** (-2 * i / d_head) for i in range(d_head // 2)], dtype=torch.float64, device=device
    )
    rows = torch.arange(offset, offset + seq_len, dtype=torch.float64, device=device)
    angle = torch.einsum("s,i->si", rows, theta)
    return angle.cos().to(torch.float32), angle.sin().to(torch.float32)


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    rows = torch.stack([torch.stack([cos, sin], -1), torch.stack([-sin, cos], -1)], -2)  # wrong
    dtype = torch.promote_types(x.dtype, rows.dtype)
    pairs = x.unflatten(-1, (-1, 2)).to(dtype)
    return torch.einsum("siyx,bhsix->bhsiy", rows.to(dtype), pairs).flatten(-2).to(x.dtype)
