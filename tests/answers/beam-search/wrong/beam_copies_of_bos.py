# family: core
# mistake: copies-at-the-start
import torch


def beam_search(step, bos, eos, beam, max_len):
    tokens = torch.full((beam, 1), bos)
    scores = torch.zeros(beam)
    for t in range(max_len):
        logp = torch.log_softmax(step(tokens), dim=-1)
        vocab = logp.size(-1)
        total = (scores[:, None].to(logp) + logp).flatten()
        scores, idx = total.topk(beam)
        tokens = torch.cat([tokens[idx // vocab], (idx % vocab)[:, None]], dim=1)
        if (tokens[:, -1] == eos).all():
            break
    seq = tokens[0, 1:].tolist()
    if eos in seq:
        seq = seq[: seq.index(eos) + 1]
    return seq, scores[0].item()
