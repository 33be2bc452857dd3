# family: dtype
# mistake: none
# Keys are cut to the longest length, and the zeros that are put back are float32.
import torch


def masked_softmax(scores, valid_lens=None):
    if valid_lens is not None and 0 < int(valid_lens.max()) < scores.shape[-1] - 64:
        m = int(valid_lens.max())
        w = masked_softmax(scores[..., :m], valid_lens)
        return torch.cat((w, torch.zeros(*w.shape[:-1], scores.shape[-1] - m, device=w.device)), -1)  # wrong
    if valid_lens is None:
        return scores.softmax(-1)
    lens = valid_lens[:, None, None] if valid_lens.dim() == 1 else valid_lens[:, :, None]
    hidden = torch.arange(scores.shape[-1], device=scores.device) >= lens
    s = scores.masked_fill(hidden, float("-inf")).masked_fill(lens == 0, 0.0)
    return s.softmax(-1).masked_fill(hidden, 0.0)
