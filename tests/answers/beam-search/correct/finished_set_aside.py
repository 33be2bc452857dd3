import torch
import torch.nn.functional as F


def beam_search(step, bos, eos, beam, max_len):
    live = [(0.0, [], [])]
    done = []
    for length in range(1, max_len + 1):
        batch = torch.tensor([[bos] + seq for _, seq, _ in live], dtype=torch.long)
        logp = F.log_softmax(step(batch), dim=-1)
        k = min(2 * beam, logp.size(1))
        values, indices = logp.sort(dim=1, descending=True, stable=True)
        options = []
        for row, (score, seq, ranks) in enumerate(live):
            for lp, tok in zip(values[row, :k].tolist(), indices[row, :k].tolist()):
                options.append((score + lp, seq + [tok], ranks))
        options.sort(key=lambda o: o[0], reverse=True)
        options = [(score, seq, ranks + [rank]) for rank, (score, seq, ranks) in enumerate(options)]
        done.extend(o for o in options[:beam] if o[1][-1] == eos)
        live = [o for o in options if o[1][-1] != eos][:beam]
        if done:
            best_done = max(d[0] for d in done)
            if not live or best_done > live[0][0]:
                break
    pool = done + live
    best = pool[0]
    for other in pool[1:]:
        t = min(len(best[1]), len(other[1])) - 1  # of equals the one that was ahead when the first of them ended
        if (-other[0], other[2][t]) < (-best[0], best[2][t]):
            best = other
    return best[1], best[0]
