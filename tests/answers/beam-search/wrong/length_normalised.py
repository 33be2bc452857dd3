# family: core
# mistake: none
import torch


def beam_search(step, bos, eos, beam, max_len):
    hyps = [([], 0.0)]
    for _ in range(max_len):
        live = [h for h in hyps if not (h[0] and h[0][-1] == eos)]
        if not live:
            break
        logp = torch.log_softmax(step(torch.tensor([[bos] + h[0] for h in live])), -1)
        vals, ids = logp.sort(-1, descending=True, stable=True)
        rows = iter(range(len(live)))
        cands = []
        for h in hyps:
            if h[0] and h[0][-1] == eos:
                cands.append(h)
                continue
            r = next(rows)
            for v, i in zip(vals[r, :beam].tolist(), ids[r, :beam].tolist()):
                cands.append((h[0] + [i], h[1] + v))
        cands.sort(key=lambda h: -h[1])
        hyps = cands[:beam]
    best = max(hyps, key=lambda h: h[1] / len(h[0]))
    return best
