# family: core
# mistake: aligned-top-left
# Query i is taken to stand at position i, not at m - n + i.
import torch


def sliding_window_attention(q, k, v, window):
    n, m, d = q.size(2), k.size(2), q.size(3)
    rows = []
    for i in range(n):
        pos = i  # wrong
        lo = max(0, pos - window + 1)
        keys, values = k[:, :, lo:pos + 1], v[:, :, lo:pos + 1]
        score = torch.einsum("bhd,bhmd->bhm", q[:, :, i], keys) / d ** 0.5
        prob = torch.softmax(score, dim=-1)
        rows.append(torch.einsum("bhm,bhmv->bhv", prob, values))
    return torch.stack(rows, dim=2)
