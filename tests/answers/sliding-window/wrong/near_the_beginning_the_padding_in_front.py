# family: core
# mistake: places-before-the-start-count
# Near the beginning the padding in front of the keys is not hidden and takes its part of the weight.
import math

import torch
import torch.nn.functional as F
from torch import Tensor


def sliding_window_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    n, m, d_k = q.shape[2], k.shape[2], q.shape[3]
    window = min(window, m)
    front = window - 1
    padded_keys = F.pad(k, (0, 0, front, 0))
    padded_values = F.pad(v, (0, 0, front, 0))

    first_query = m - n
    scores_by_place = []
    for place in range(window):
        begin = first_query + place
        keys_at_place = padded_keys[:, :, begin : begin + n]
        score = (q * keys_at_place).sum(dim=-1)
        scores_by_place.append(score)
    scores = torch.stack(scores_by_place, dim=-1) / math.sqrt(d_k)
    weights = torch.softmax(scores, dim=-1)  # wrong

    output = torch.zeros(*q.shape[:3], v.shape[3], dtype=q.dtype, device=q.device)
    for place in range(window):
        begin = first_query + place
        values_at_place = padded_values[:, :, begin : begin + n]
        output = output + weights[..., place].unsqueeze(-1) * values_at_place
    return output
