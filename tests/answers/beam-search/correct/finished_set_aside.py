import torch
import torch.nn.functional as F


def beam_search(step, bos, eos, beam, max_len):
    live = [(0.0, [])]
    done = []
    for length in range(1, max_len + 1):
        batch = torch.tensor([[bos] + seq for _, seq in live], dtype=torch.long)
        logp = F.log_softmax(step(batch), dim=-1)
        k = min(2 * beam, logp.size(1))
        values, indices = logp.sort(dim=1, descending=True, stable=True)
        options = []
        for row, (score, seq) in enumerate(live):
            for lp, tok in zip(values[row, :k].tolist(), indices[row, :k].tolist()):
                options.append((score + lp, seq + [tok]))
        options.sort(key=lambda o: o[0], reverse=True)
        done.extend(o for o in options[:beam] if o[1][-1] == eos)
        live = [o for o in options if o[1][-1] != eos][:beam]
        if done:
            best_done = max(d[0] for d in done)
            if not live or best_done >= live[0][0]:
                break
    pool = done + live
    score, seq = max(pool, key=lambda o: o[0])
    return seq, score
