# family: core
# mistake: higher-ids-first
# An ascending sort is turned round, so that of equal logits the higher ids come first.
import torch
from torch import Tensor


def sort_descending(logits: Tensor) -> tuple[Tensor, Tensor]:
    values, ids = torch.sort(logits, dim=-1, stable=True)
    return values.flip(-1), ids.flip(-1)  # wrong


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    if p >= 1.0:
        return logits.clone()
    sorted_logits, sorted_ids = sort_descending(logits)
    sorted_probabilities = torch.softmax(sorted_logits.to(torch.float64), dim=-1)
    sums_up_to_here = torch.cumsum(sorted_probabilities, dim=-1)
    sums_before = sums_up_to_here - sorted_probabilities
    belongs = sums_before < p
    first = torch.zeros_like(belongs)
    first[..., 0] = True
    belongs = belongs | first
    filtered_sorted = sorted_logits.masked_fill(~belongs, float("-inf"))
    result = torch.empty_like(filtered_sorted)
    result.scatter_(-1, sorted_ids, filtered_sorted)
    return result
