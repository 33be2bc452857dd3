# family: core
# mistake: finished-returned-at-once
import torch


def beam_search(step, bos, eos, beam, max_len):
    beams = [([bos], 0.0)]
    for _ in range(max_len):
        logp = torch.log_softmax(step(torch.tensor([s for s, _ in beams])), dim=-1)
        vals, ids = logp.sort(dim=-1, descending=True, stable=True)
        cands = []
        for (seq, score), v, i in zip(beams, vals[:, :beam].tolist(), ids[:, :beam].tolist()):
            cands += [(seq + [b], score + a) for a, b in zip(v, i)]
        beams = sorted(cands, key=lambda c: -c[1])[:beam]
        for seq, score in beams:
            if seq[-1] == eos:
                return seq[1:], score
    return beams[0][0][1:], beams[0][1]
