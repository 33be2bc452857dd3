# family: core
# mistake: none
import torch
import torch.nn.functional as F


def beam_search(step, bos, eos, beam, max_len):
    live, done = [([], 0.0)], []
    for _ in range(max_len):
        logp = F.log_softmax(step(torch.tensor([[bos] + s for s, _ in live])), dim=-1)
        vals, ids = logp.sort(dim=-1, descending=True, stable=True)
        cands = []
        for r, (seq, score) in enumerate(live):
            for v, i in zip(vals[r, : 2 * beam].tolist(), ids[r, : 2 * beam].tolist()):
                cands.append((seq + [i], score + v))
        cands.sort(key=lambda c: -c[1])
        done += [c for c in cands[: 2 * beam] if c[0][-1] == eos]
        live = [c for c in cands if c[0][-1] != eos][:beam]
        if not live or len(done) >= beam:
            break
    return max(done + live, key=lambda c: c[1])
