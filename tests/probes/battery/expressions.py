"""One expression each: the operators that answers are made of."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812

from battery import ROWS, WIDTH, B, D, H, N, operators


def steps(x, count=2):
    """Return indices on the device of `x`."""
    return torch.arange(count, device=x.device)


def written(x, write):
    """Return a clone of `x` after a write."""
    y = x.clone()
    write(y)
    return y


operators(
    "products",
    ROWS,
    {
        "bmm": lambda x: torch.bmm(x, x.mT),
        "matmul": lambda x: torch.matmul(x, x.mT),
        "matmul with a vector": lambda x: x @ x[0, 0],
        "mv": lambda x: x[0].mv(x[0, 0]),
        "dot": lambda x: x[0, 0].dot(x[0, 1]),
        "einsum": lambda x: torch.einsum("bij,bkj->bik", x, x),
        "tensordot": lambda x: torch.tensordot(x, x, dims=([2], [2])),
        "outer": lambda x: torch.outer(x[0, 0], x[0, 1]),
        "kron": lambda x: torch.kron(x[0], x[1]),
        "addmm": lambda x: torch.addmm(x[0, :, :N], x[0], x[1].T, beta=0.5),
        "cdist": lambda x: torch.cdist(x, x + 1),
        "linear": lambda x: F.linear(x, x[0]),
        "matmul out": lambda x: torch.matmul(x.detach(), x.detach().mT, out=torch.empty(B, N, N, device=x.device)),
        "bfloat16": lambda x: (x.bfloat16() @ x.bfloat16().mT).float(),
    },
)
operators(
    "shapes",
    ROWS,
    {
        "view": lambda x: x.view(B, N, H, D),
        "view then transpose": lambda x: x.view(B, N, H, D).transpose(1, 2),
        "reshape of a transpose": lambda x: x.mT.reshape(-1),
        "contiguous": lambda x: x.mT.contiguous(),
        "permute": lambda x: x.permute(2, 0, 1),
        "movedim": lambda x: x.movedim(0, 2),
        "swapaxes": lambda x: x.swapaxes(0, 1),
        "flatten": lambda x: x.flatten(1),
        "unflatten": lambda x: x.unflatten(2, (H, D)),
        "squeeze": lambda x: x[:1].squeeze(0),
        "unsqueeze": lambda x: x.unsqueeze(1),
        "expand": lambda x: x[:, None].expand(-1, 3, -1, -1),
        "broadcast_to": lambda x: x[:, None].broadcast_to(B, 3, N, WIDTH),
        "repeat": lambda x: x.repeat(1, 2, 1),
        "tile": lambda x: x.tile(2, 1, 1),
        "repeat_interleave": lambda x: x.repeat_interleave(2, 1),
        "repeat_interleave by a tensor": lambda x: x.repeat_interleave(steps(x) + 1, 0),
        "cat": lambda x: torch.cat([x, x], 1),
        "stack": lambda x: torch.stack([x, x], -1),
        "split": lambda x: x.split(2, 1)[1],
        "chunk": lambda x: x.chunk(2, -1)[1],
        "unbind": lambda x: x.unbind(1)[2],
        "as_strided": lambda x: x[1].as_strided((3, 3), (5, 2)),
        "unfold": lambda x: x.unfold(1, 3, 1),
        "flip": lambda x: x.flip(1),
        "roll": lambda x: x.roll(1, 1),
        "diagonal": lambda x: x.diagonal(0, 1, 2),
        "pad": lambda x: F.pad(x, (1, 1, 2, 0), value=-1.0),
        "meshgrid": lambda x: torch.meshgrid(x[0, 0], x[0, 1], indexing="ij")[0],
        "empty tensor": lambda x: x[:, :0].sum(1) + x[:, 0],
        "size one": lambda x: x[:1, :1, :1] * x[:1, :1, :1].mT,
        "nested stacks": lambda x: torch.stack([torch.stack([x[b, n] * 2 for n in range(N)]) for b in range(B)]),
        "unpacking": lambda x: torch.cat(list(x), 0),
    },
)
operators(
    "indexing",
    ROWS,
    {
        "steps": lambda x: x[:, ::2],
        "none and ellipsis": lambda x: x[None, ..., 1:3],
        "select": lambda x: x.select(1, 2),
        "narrow": lambda x: x.narrow(1, 1, 3),
        "index_select": lambda x: x.index_select(1, steps(x)),
        "gather": lambda x: x.gather(1, torch.zeros(B, 2, WIDTH, dtype=torch.long, device=x.device)),
        "take_along_dim": lambda x: x.take_along_dim(x.argsort(1), 1),
        "two index tensors": lambda x: x[steps(x), steps(x) + 1],
        "bool mask": lambda x: x[x > 0],
        "nonzero": lambda x: x[(x > 0).nonzero(as_tuple=True)],
        "masked_select": lambda x: x.masked_select(x > 0),
        "assign a slice": lambda x: written(x, lambda y: y.__setitem__((slice(None), 0), 5.0)),
        "assign where": lambda x: written(x, lambda y: y.__setitem__(y > 1, 0.0)),
        "assign a tensor": lambda x: written(x, lambda y: y.__setitem__((slice(None), 1), x[:, 0])),
        "assign by index": lambda x: written(x, lambda y: y.__setitem__((slice(None), steps(x)), x[:, :2])),
        "write through a view": lambda x: written(x, lambda y: y[:, 1:3].mul_(2)),
        "write through a transpose": lambda x: written(x, lambda y: y.mT[:, 0].add_(1)),
        "index_add": lambda x: torch.zeros_like(x).index_add(1, steps(x, N), x),
        "index_fill": lambda x: x.index_fill(1, steps(x), 0.0),
        "index_copy": lambda x: x.index_copy(1, steps(x), x[:, 2:4]),
        "scatter_add": lambda x: torch.zeros_like(x).scatter_add(1, (x > 0).long(), x),
        "masked_scatter": lambda x: x.masked_scatter(x > 0, x.flatten()),
        "bucketize": lambda x: x * torch.bucketize(x.detach(), torch.tensor([-1.0, 0.0, 1.0], device=x.device)),
        "one_hot": lambda x: F.one_hot((x > 0).long(), 2).float() * x[..., None],
        "block_diag": lambda x: torch.block_diag(x[0], x[1]),
    },
)
operators(
    "masks",
    ROWS,
    {
        "masked_fill": lambda x: x.masked_fill(x > 0, -1e9),
        "masked_fill in place": lambda x: x.clone().masked_fill_(x > 0, 0.0),
        "masked_fill by a number tensor": lambda x: x.masked_fill(x > 0, torch.tensor(-2.0)),
        "where": lambda x: torch.where(x > 0, x, torch.zeros_like(x)),
        "where with a number": lambda x: torch.where(x > 0, x, 0.0),
        "tril": lambda x: x.tril(),
        "triu": lambda x: x.triu(1),
        "logical": lambda x: x * ((x > 0) & ~(x > 1) | (x < -1) ^ (x == 0)),
        "comparison with a tensor": lambda x: x * (x >= x.mT.mT.roll(1, 0)),
        "any and all": lambda x: x * (x > 0).any(-1, keepdim=True) * (x < 9).all(),
        "isfinite": lambda x: x.masked_fill(~torch.isfinite(x) | torch.isinf(x) | torch.isnan(x), 0),
        "nan_to_num": lambda x: torch.nan_to_num(x / (x > 0), 0.0, 1.0, -1.0),
        "cast to numbers": lambda x: x * (x > 0).to(x.dtype) + (1 - torch.ones(WIDTH, device=x.device)) * -1e9,
        "maximum": lambda x: torch.maximum(x, torch.tensor(0.0)),
    },
)
operators(
    "numbers",
    ROWS,
    {
        "softmax": lambda x: F.softmax(x, -1),
        "softmax over rows": lambda x: x.softmax(1),
        "softmax with dtype": lambda x: F.softmax(x, -1, dtype=torch.float64),
        "log_softmax": lambda x: F.log_softmax(x, -1),
        "logsumexp": lambda x: x.logsumexp(-1, keepdim=True),
        "logsumexp of nothing": lambda x: x[:0].logsumexp(-1, keepdim=True),
        "gather of nothing": lambda x: x[:, :0].gather(-1, steps(x, 1).expand(B, 0, 1)),
        "sum": lambda x: x.sum((0, 1)),
        "mean": lambda x: x.mean(-1),
        "max with indices": lambda x: x.max(-1).values,
        "amax": lambda x: x.amax(-1),
        "var": lambda x: x.var(-1, unbiased=False),
        "std": lambda x: x.std(-1),
        "norm": lambda x: x.norm(dim=-1),
        "normalize": lambda x: F.normalize(x, dim=-1),
        "cumsum": lambda x: x.cumsum(1),
        "cumprod": lambda x: x.cumprod(1),
        "topk": lambda x: x.topk(3, -1)[0],
        "sort": lambda x: x.sort(-1)[0],
        "argmax": lambda x: x.argmax(-1).float(),
        "pow": lambda x: x.abs().pow(1.5) + 2.0**x,
        "rsqrt": lambda x: (x * x + 1).rsqrt(),
        "exp and log": lambda x: x.abs().log().exp(),
        "sin and cos": lambda x: x.sin() + x.cos(),
        "tanh and sigmoid": lambda x: x.tanh() * x.sigmoid(),
        "activations": lambda x: F.gelu(x) + F.silu(x) + F.relu(x) + F.elu(x) + F.softplus(x),
        "clamp": lambda x: x.clamp(-1, 1),
        "abs and sign": lambda x: x.abs() * x.sign(),
        "addcmul and lerp": lambda x: torch.addcmul(x, x, x) + torch.lerp(x, x + 1, 0.3),
        "in place chain": lambda x: x.clone().mul_(2).add_(1).div_(3).sub_(x).neg_(),
        "floor and remainder": lambda x: x - x.floor() + x % 1.0 + (x.detach() // 0.5),
        "layer_norm": lambda x: F.layer_norm(x, (WIDTH,)),
        "group_norm": lambda x: F.group_norm(x.mT, 4),
        "complex": lambda x: torch.view_as_complex(x.view(B, N, WIDTH // 2, 2)).conj().mul(2).abs(),
        "rfft": lambda x: torch.fft.rfft(x).abs(),
        "cross_entropy": lambda x: F.cross_entropy(x[0], steps(x, N)),
    },
)
operators(
    "factories",
    ROWS,
    {
        "zeros and ones": lambda x: x + torch.zeros(N, 1, device=x.device) + torch.ones(WIDTH, device=x.device),
        "like": lambda x: x + torch.zeros_like(x) + torch.full_like(x, 2.0) + torch.ones_like(x, dtype=torch.int),
        "full": lambda x: x + torch.full((WIDTH,), 2.0, device=x.device),
        "arange": lambda x: x * torch.arange(0, WIDTH, 1, device=x.device),
        "linspace": lambda x: x * torch.linspace(0, 1, WIDTH, device=x.device),
        "eye": lambda x: x @ torch.eye(WIDTH, device=x.device),
        "new": lambda x: x + x.new_zeros(WIDTH) + x.new_full((1,), 3.0) + x.new_ones(()),
        "new_tensor": lambda x: x + x.new_tensor([1.0]),
        "tensor of a list": lambda x: x * torch.tensor([2.0] * WIDTH, device=x.device),
        "as_tensor": lambda x: x * torch.as_tensor([2.0] * WIDTH, device=x.device),
        "number tensor": lambda x: x * torch.tensor(2.0, device=x.device),
        "tensor of a shape": lambda x: x / torch.tensor(x.shape[-1]).sqrt(),
        "random, then ignored": lambda x: x + 0 * torch.rand_like(x) + 0 * torch.randn(WIDTH, device=x.device),
        "randperm": lambda x: x[:, torch.randperm(N, device=x.device).sort().values],
        "resize": lambda x: torch.empty(0, device=x.device).resize_(2, 3).zero_(),
        "cat into an empty out": lambda x: torch.cat([x.detach()] * 2, out=torch.empty(0, device=x.device)),
        "casts": lambda x: x.half().float() + x.double().float() + x.to(torch.bfloat16).type_as(x) + x.long(),
        "to its own device": lambda x: x.to(x.device) + x.to(x) + x.to(device=x.device, dtype=x.dtype),
        "detach and clone": lambda x: x.detach().clone() + x,
        "shape arithmetic": lambda x: x / x.numel() ** 0.5 * x.size(-1) + x.dim(),
        "printing": lambda x: (repr(x), str(x[0, 0, 0]), f"{x.shape}", x)[-1],
    },
)
