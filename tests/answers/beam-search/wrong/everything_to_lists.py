# family: device
# mistake: logits-to-the-host
import torch


def beam_search(step, bos, eos, beam, max_len):
    beams = [([], 0.0)]
    for _ in range(max_len):
        live = [b for b in beams if b[0][-1:] != [eos]]
        if not live:
            break
        rows = iter(torch.log_softmax(step(torch.tensor([[bos] + b[0] for b in live])), -1).tolist())
        cands = []
        for seq, score in beams:
            if seq[-1:] == [eos]:
                cands.append((seq, score))
            else:
                cands += [(seq + [i], score + lp) for i, lp in enumerate(next(rows))]
        beams = sorted(cands, key=lambda c: -c[1])[:beam]
    return beams[0]
