# family: core
# mistake: only-finished
# A finished hypothesis is preferred to a better unfinished one at the end.
import torch
import torch.nn.functional as F

NEG = float("-inf")


def _expand(hyps, logp):
    """scores (len(hyps), vocab); a finished one has a single candidate, itself, in column 0"""
    rows = []
    it = iter(logp)
    for ids, score, done in hyps:
        if done:
            r = torch.full_like(logp[0], NEG)
            r[0] = score
        else:
            r = next(it) + score
        rows.append(r)
    return torch.stack(rows)


def beam_search(step, bos, eos, beam, max_len):
    hyps = [([], 0.0, False)]
    for t in range(max_len):
        open_ = [ids for ids, _, done in hyps if not done]
        if len(open_) == 0:
            break
        logits = step(torch.tensor([[bos, *ids] for ids in open_]))
        cand = _expand(hyps, F.log_softmax(logits.to(torch.float64), -1))
        V = cand.size(1)
        order = torch.argsort(cand.view(-1), descending=True, stable=True)[:beam]
        scores = cand.view(-1)[order].tolist()
        nxt = []
        for o, s in zip(order.tolist(), scores):
            if s == NEG:
                continue
            parent, tok = divmod(o, V)
            ids, _, done = hyps[parent]
            nxt.append(hyps[parent] if done else (ids + [tok], s, tok == eos))
        hyps = nxt
    pool = [h for h in hyps if h[2]] or hyps  # wrong
    ids, score, _ = pool[0]
    return ids, score
