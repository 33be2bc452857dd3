# family: contract
# mistake: leftover-features-dropped
# The check looks at the number of all entries, which n_heads may divide though it does not divide d_model.
import torch


def fold_heads(x, n_heads):
    B, S, d_model = x.shape
    if n_heads < 1 or x.numel() % n_heads != 0:  # wrong
        raise ValueError("the heads do not fit")
    # a sequence after the other
    rows = []
    d_head = d_model // n_heads
    for b in range(B):
        for h in range(n_heads):
            rows.append(x[b, :, h * d_head : (h + 1) * d_head])
    return torch.stack(rows)


def unfold_heads(x, n_heads):
    sequences = []
    for b in range(x.shape[0] // n_heads):
        heads = [x[b * n_heads + h] for h in range(n_heads)]
        sequences.append(torch.cat(heads, dim=-1))
    return torch.stack(sequences)


def repeat_valid_lens(valid_lens, n_heads):
    if valid_lens is None:
        return None
    # index b * H + h -> b
    rows = torch.arange(valid_lens.shape[0] * n_heads, device=valid_lens.device)
    return valid_lens[torch.div(rows, n_heads, rounding_mode="floor")]
