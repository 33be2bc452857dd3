# family: dtype
# mistake: float32-detour
import torch


def beam_search(step, bos, eos, beam, max_len):
    beams = [([], 0.0)]
    for _ in range(max_len):
        live = [b for b in beams if b[0][-1:] != [eos]]
        if not live:
            break
        logp = torch.nn.functional.log_softmax(step(torch.tensor([[bos] + b[0] for b in live])), dim=-1, dtype=torch.float32)
        vals, ids = logp.sort(dim=-1, descending=True, stable=True)
        rows = zip(vals[:, :beam].tolist(), ids[:, :beam].tolist())
        cands = []
        for seq, score in beams:
            if seq[-1:] == [eos]:
                cands.append((seq, score))
            else:
                cands += [(seq + [i], score + lp) for lp, i in zip(*next(rows))]
        beams = sorted(cands, key=lambda c: -c[1])[:beam]
    return beams[0]
