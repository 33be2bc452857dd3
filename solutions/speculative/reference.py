"""Speculative sampling: which drafted tokens stay, and what comes behind them.

    x ~ q is kept with the probability min(1, p(x) / q(x)), else replaced by a token of norm(max(0, p - q))

Then P(x) = min(q(x), p(x)) + max(0, p(x) - q(x)) = p(x): what comes out is distributed as the large model has it.
Leviathan et al. 2023, "Fast Inference from Transformers via Speculative Decoding" (arXiv:2211.17192), algorithm 1;
Chen et al. 2023, "Accelerating Large Language Model Decoding with Speculative Sampling" (arXiv:2302.01318).
"""

import torch
from torch import Tensor


def accept(draft_tokens: Tensor, draft_probs: Tensor, target_probs: Tensor, uniforms: Tensor) -> Tensor:
    """Keep drafts up to the first one that is rejected, and draw one token more.

    draft_tokens  (K,), int64, drawn from the rows of draft_probs
    draft_probs   (K, V), the small model's probabilities at the places of the drafts
    target_probs  (K + 1, V), the large model's, at the same places and at the one behind them
    uniforms      (K + 1,), from 0 to below 1: the first K decide on the drafts, the last one draws

    Returns (kept + 1,), int64: the accepted drafts and the drawn token.
    """
    drafts = draft_tokens.size(0)
    columns = draft_tokens.unsqueeze(1)  # (K, 1)
    ratios = target_probs[:drafts].gather(1, columns) / draft_probs.gather(1, columns)  # (K, 1)
    accepted = uniforms[:drafts] < ratios.squeeze(1)  # (K,)
    kept = int(accepted.cumprod(0).sum())  # those before the first rejection

    weights = target_probs[kept]  # (V,)
    if kept < drafts:
        weights = (weights - draft_probs[kept]).clamp(min=0)  # what the draft offers too rarely
    sums = weights.cumsum(0)  # (V,)
    drawn = (sums <= uniforms[drafts] * sums[-1]).sum()  # as many ids lie before the one that is drawn
    return torch.cat([draft_tokens[:kept], drawn.view(1)])
