# family: device
# mistake: none
import torch


def top_p_filter(logits, p):
    rows = logits.reshape(-1, logits.size(-1))
    out = torch.full_like(rows, float("-inf"))
    for r, row in enumerate(rows):
        probs = torch.softmax(row, dim=-1).tolist()
        order = sorted(range(len(probs)), key=lambda i: -probs[i])
        total = 0.0
        for i in order:
            out[r, i] = row[i]
            total += probs[i]
            if total >= p:
                break
    return out.reshape(logits.shape)
