# family: cost
# mistake: a-call-for-each-hypothesis
import torch


def beam_search(step, bos, eos, beam, max_len):
    beams = [([], 0.0)]
    for _ in range(max_len):
        cands = []
        for seq, score in beams:
            if seq and seq[-1] == eos:
                cands.append((seq, score))
                continue
            logp = torch.log_softmax(step(torch.tensor([[bos] + seq]))[0], dim=-1)
            vals, ids = logp.sort(descending=True, stable=True)
            for v, i in zip(vals[:beam].tolist(), ids[:beam].tolist()):
                cands.append((seq + [i], score + v))
        beams = sorted(cands, key=lambda c: -c[1])[:beam]
        if all(b[0][-1] == eos for b in beams):
            break
    return beams[0]
