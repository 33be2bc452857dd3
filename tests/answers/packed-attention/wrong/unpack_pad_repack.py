# family: cost
# mistake: padded-to-the-longest
import torch
from torch.nn.utils.rnn import pad_sequence


def packed_attention(q, k, v, cu_seqlens, causal=False):
    lens = [b - a for a, b in zip(cu_seqlens, cu_seqlens[1:])]
    qp, kp, vp = (pad_sequence(x.split(lens), batch_first=True).transpose(1, 2) for x in (q, k, v))
    n = qp.size(2)
    real = torch.arange(n, device=q.device) < torch.tensor(lens, device=q.device)[:, None]
    keep = real[:, None, None, :].expand(-1, 1, n, n)
    if causal:
        keep = keep & torch.ones(n, n, dtype=torch.bool, device=q.device).tril()
    s = (qp @ kp.mT / q.size(-1) ** 0.5).masked_fill(~keep, float("-inf"))
    w = s.softmax(-1).masked_fill(~keep, 0.0)
    out = (w @ vp).transpose(1, 2)
    return torch.cat([o[:l] for o, l in zip(out, lens)])
