# family: core
# mistake: scale-of-the-values
# The scale is that of the values' width, not of the keys' width.
import torch
from torch import Tensor


def attention_backward(
    q: Tensor, k: Tensor, v: Tensor, d_output: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    result_dtype = q.dtype
    is_half = result_dtype in (torch.float16, torch.bfloat16)
    queries = q.float() if is_half else q
    keys = k.float() if is_half else k
    values = v.float() if is_half else v
    upstream = d_output.float() if is_half else d_output

    # The forward pass once more
    head_width = values.shape[-1]  # wrong
    root_of_width = head_width**0.5
    raw_scores = torch.matmul(queries, keys.transpose(-1, -2))
    scaled_scores = raw_scores / root_of_width
    if mask is not None:
        hidden = torch.logical_not(mask)
        visible_scores = scaled_scores.masked_fill(hidden, float("-inf"))
        weights = torch.softmax(visible_scores, dim=-1).masked_fill(hidden, 0.0)
    else:
        weights = torch.softmax(scaled_scores, dim=-1)

    # output = weights @ values
    gradient_of_values = torch.matmul(weights.transpose(-1, -2), upstream)
    gradient_of_weights = torch.matmul(upstream, values.transpose(-1, -2))
    if mask is not None:
        gradient_of_weights = gradient_of_weights.masked_fill(hidden, 0.0)

    # weights = softmax(scaled_scores)
    expected_gradient = (gradient_of_weights * weights).sum(dim=-1, keepdim=True)
    gradient_of_scaled_scores = weights * (gradient_of_weights - expected_gradient)

    # scaled_scores = queries @ keys^T / root_of_width
    gradient_of_raw_scores = gradient_of_scaled_scores / root_of_width
    gradient_of_queries = torch.matmul(gradient_of_raw_scores, keys)
    gradient_of_keys = torch.matmul(gradient_of_raw_scores.transpose(-1, -2), queries)

    return (
        gradient_of_queries.to(result_dtype),
        gradient_of_keys.to(result_dtype),
        gradient_of_values.to(result_dtype),
    )
