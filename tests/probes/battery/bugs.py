"""Wrong on a GPU, right on a laptop."""
# ruff: noqa: D101, D102, D103 - the name of a snippet says what it is

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from battery import HEADS, ROWS, WIDTH, B, D, H, N, wrong

INF = float("inf")
# a device chosen when the file is loaded; the eighth, so that the choice is wrong on a machine with a GPU as well
DEVICE = "cuda:7" if torch.cuda.device_count() > 7 else "cpu"


def upper_on_the_cpu():
    return torch.ones(N, N, dtype=torch.bool).triu(1)


@wrong("raises", HEADS, HEADS, HEADS)
def mask_in_masked_fill(q, k, v):
    return (q @ k.mT).masked_fill(upper_on_the_cpu(), -INF).softmax(-1) @ v


@wrong("raises", HEADS, HEADS)
def mask_in_place(q, k):
    scores = q @ k.mT
    scores.masked_fill_(upper_on_the_cpu(), -INF)
    return scores


@wrong("raises", HEADS, HEADS)
def mask_added(q, k):
    return q @ k.mT + torch.full((N, N), -1e9).triu(1)


@wrong("raises", HEADS, HEADS)
def mask_multiplied(q, k):
    return (q @ k.mT) * torch.ones(N, N).tril()


@wrong("raises", HEADS, HEADS)
def mask_in_where(q, k):
    return torch.where(torch.ones(N, N).tril() > 0, q @ k.mT, -1e9)


@wrong("raises", HEADS, HEADS)
def fill_in_where(q, k):
    scores = q @ k.mT
    return torch.where(scores > 0, scores, torch.full((N, N), -1e9))


@wrong("raises", HEADS, HEADS, HEADS)
def mask_in_fused_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~upper_on_the_cpu())


@wrong("raises", (B, N))
def positions_against_lengths(x):
    lengths = x.detach().abs().sum(1)
    return torch.arange(N)[None] < lengths[:, None]


@wrong("remark", HEADS, HEADS)
def mask_as_index(q, k):
    scores = q @ k.mT
    scores[:, :, upper_on_the_cpu()] = -INF
    return scores


@wrong("remark", HEADS, HEADS)
def mask_moved_at_each_call(q, k):
    return (q @ k.mT).masked_fill(upper_on_the_cpu().to(q.device), -INF)


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.randn(16, WIDTH)

    def forward(self, x):
        return x + self.table[: x.size(1)]


@wrong("raises", ROWS)
def table_as_plain_attribute(x):
    return Table().to(x.device)(x)


class Moved(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(WIDTH)) * 2

    def forward(self, x):
        return x * self.gain


@wrong("raises", ROWS)
def parameter_that_is_none(x):
    return Moved().to(x.device)(x)


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(WIDTH, WIDTH) for _ in range(2)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@wrong("raises", ROWS)
def modules_in_a_plain_list(x):
    return Plain().to(x.device)(x)


@wrong("raises", ROWS)
def layer_made_in_forward(x):
    return nn.Linear(WIDTH, WIDTH)(x)


@wrong("raises", ROWS)
def norm_made_in_forward(x):
    return nn.LayerNorm(WIDTH)(x)


@wrong("raises", ROWS)
def positions_into_an_embedding(x):
    return x + nn.Embedding(16, WIDTH).to(x.device)(torch.arange(N))


@wrong("raises", HEADS)
def rotary_tables(x):
    frequency = 1 / (10000 ** (torch.arange(0, D, 2).float() / D))
    angles = torch.outer(torch.arange(N).float(), frequency).repeat_interleave(2, -1)
    return x * angles.cos()


@wrong("raises", HEADS)
def rotary_positions(x):
    frequency = 1 / (10000 ** (torch.arange(0, D, 2, device=x.device).float() / D))
    return x * torch.outer(torch.arange(N).float(), frequency).repeat(1, 2).cos()


@wrong("raises", HEADS, HEADS)
def slopes_of_alibi(q, k):
    return q @ k.mT - torch.tensor([0.5, 0.25, 0.125, 0.06]).view(H, 1, 1)


@wrong("raises", HEADS)
def scale_as_a_vector(q):
    return q * torch.tensor([D**-0.5])


@wrong("raises", HEADS)
def bias_as_a_matrix(q):
    return torch.baddbmm(torch.zeros(1, N, N), q[0], q[0].mT)


@wrong("raises", HEADS, HEADS, HEADS)
def device_chosen_at_import(q, k, v):
    return (q @ k.mT).masked_fill(torch.ones(N, N, device=DEVICE).triu(1) > 0, -INF).softmax(-1) @ v


@wrong("raises", HEADS, HEADS)
def device_written_down(q, k):
    return q @ k.mT + torch.zeros(N, N, device="cpu")


@wrong("raises", HEADS, HEADS)
def cuda_written_down(q, k):
    return q.cuda() @ k.mT


@wrong("raises", HEADS, HEADS)
def cuda_as_device(q, k):
    return q @ k.mT + torch.zeros(N, N, device="cuda")


@wrong("raises", HEADS)
def numpy_of_a_device_tensor(q):
    return torch.from_numpy(q.detach().numpy()).softmax(-1)


@wrong("copies", HEADS, HEADS, HEADS)
def round_trip(q, k, v):
    return ((q.cpu() @ k.cpu().mT).softmax(-1) @ v.cpu()).to(q.device)


@wrong("copies", HEADS)
def round_trip_through_numpy(q):
    return torch.from_numpy(q.detach().cpu().numpy()).to(q.device)


@wrong("copies", HEADS)
def round_trip_through_a_list(q):
    return torch.tensor(q.tolist(), device=q.device)


@wrong("copies", HEADS)
def round_trip_through_a_type(q):
    return q.type(torch.FloatTensor).to(q.device)


@wrong("copies", HEADS)
def printed_by_hand(q):
    return q * len(str(q.tolist()))


@wrong("elsewhere", HEADS, HEADS)
def result_on_the_cpu(q, k):
    return (q @ k.mT).cpu()


@wrong("elsewhere", HEADS, HEADS)
def result_allocated_on_the_cpu(q, k):
    out = torch.zeros(B, H, N, N)
    for h in range(H):
        out[:, h] = q[:, h] @ k[:, h].mT
    return out


@wrong("elsewhere", HEADS)
def mask_returned_from_the_cpu(q):
    return torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool).tril()


@wrong("raises", HEADS, HEADS)
def cache_on_the_cpu(q, k):
    cache = torch.zeros(B, H, N, D)
    for t in range(N):
        cache[:, :, t : t + 1] = k[:, :, t : t + 1]
    return q @ cache.mT


@wrong("raises", HEADS, HEADS)
def cache_that_starts_on_the_cpu(q, k):
    return q @ torch.cat([torch.empty(B, H, 0, D), k], 2).mT


@wrong("raises", HEADS)
def padding_from_the_cpu(k):
    return torch.cat([k, torch.zeros(B, H, 1, D)], 2)


@wrong("raises", HEADS)
def gather_by_a_cpu_index(k):
    return k.gather(2, torch.zeros(B, H, 1, D, dtype=torch.long))


@wrong("raises", HEADS)
def index_select_by_a_cpu_index(k):
    return k.index_select(2, torch.arange(3))


@wrong("remark", HEADS, HEADS)
def largest_score_as_a_number(q, k):
    scores = q @ k.mT
    return (scores - scores.max().item()).softmax(-1)


@wrong("remark", HEADS, HEADS)
def scale_as_a_float(q, k):
    return q @ k.mT / float(q.abs().max())


@wrong("remark", HEADS)
def condition_on_a_tensor(q):
    return q * 2 if (q > 0).any() else q


@wrong("unseen", HEADS)
def device_without_its_index(q):
    return q + torch.zeros(D, device=q.device.type)
