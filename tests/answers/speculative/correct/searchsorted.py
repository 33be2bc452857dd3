import torch
import torch.nn.functional as F
from torch import Tensor


def accept(draft_tokens: Tensor, draft_probs: Tensor, target_probs: Tensor, uniforms: Tensor) -> Tensor:
    K, V = draft_probs.shape
    index = torch.arange(K, device=draft_tokens.device)
    p = target_probs[index, draft_tokens]
    q = draft_probs[index, draft_tokens]
    rejected = torch.nonzero(uniforms[:-1] * q >= p)
    n = int(rejected[0]) if len(rejected) else K

    # a row of zeros behind the draft makes both cases one
    q_padded = F.pad(draft_probs, (0, 0, 0, 1))
    residual = F.relu(target_probs[n] - q_padded[n])
    cdf = residual.cumsum(-1)
    token = torch.searchsorted(cdf, (uniforms[-1] * cdf[-1]).reshape(1), right=True)
    return torch.cat([draft_tokens[:n], token])
