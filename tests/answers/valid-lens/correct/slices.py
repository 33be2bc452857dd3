import torch


def masked_softmax(scores, valid_lens=None):
    """Row by row: softmax over the slice that is valid, zeros behind it."""
    if valid_lens is None:
        return scores.softmax(dim=-1)
    batch, n, m = scores.shape
    rows = []
    for b in range(batch):
        for i in range(n):
            length = int(valid_lens[b] if valid_lens.ndim == 1 else valid_lens[b, i])
            head = scores[b, i, :length].softmax(dim=0)
            rows.append(torch.cat([head, scores.new_zeros(m - length)]))
    return torch.stack(rows).view(batch, n, m)
