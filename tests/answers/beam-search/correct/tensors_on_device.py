import torch


@torch.no_grad()
def beam_search(step, bos, eos, beam, max_len):
    tokens = torch.tensor([[bos]])
    scores = None
    finished = None
    for t in range(max_len):
        logits = step(tokens)
        if scores is None:
            tokens = tokens.to(logits.device)
            scores = logits.new_zeros(1)
            finished = torch.zeros(1, dtype=torch.bool, device=logits.device)
        logp = torch.log_softmax(logits, dim=-1)
        vocab = logp.size(-1)
        # a finished row has one candidate: itself (one more eos, which is cut off in the end)
        only_eos = torch.full((vocab,), float("-inf"), dtype=logp.dtype, device=logp.device)
        only_eos[eos] = 0.0
        logp = torch.where(finished[:, None], only_eos, logp)
        flat = (scores[:, None] + logp).flatten()
        order = torch.sort(flat, descending=True, stable=True).indices[:beam]
        parents = torch.div(order, vocab, rounding_mode="floor")
        new = order % vocab
        scores = flat[order]
        tokens = torch.cat([tokens[parents], new[:, None]], dim=1)
        finished = finished[parents] | (new == eos)
        if finished.all():
            break
    best = tokens[0, 1:].tolist()
    if eos in best:
        best = best[: best.index(eos) + 1]
    return best, scores[0].item()
