# kata: beam-search
# names: length-normalised-at-the-end
import math

import torch


def beam_search(step, bos, eos, beam, max_len):
    beams = [(0.0, [bos], False)]
    for _ in range(max_len):
        alive = [b for b in beams if not b[2]]
        if not alive:
            break
        out = step(torch.tensor([b[1] for b in alive], dtype=torch.long))
        out = out.to(torch.float64).log_softmax(dim=-1)
        values, ids = out.sort(dim=-1, descending=True, stable=True)
        values, ids = values[:, :beam], ids[:, :beam]
        candidates, r = [], 0
        for score, seq, done in beams:
            if done:
                candidates.append((score, seq, True))
                continue
            for lp, tok in zip(values[r].tolist(), ids[r].tolist()):
                if lp > -math.inf:
                    candidates.append((score + lp, seq + [tok], tok == eos))
            r += 1
        if not candidates:
            break
        candidates.sort(key=lambda c: c[0], reverse=True)  # stable: of equals the first stays first
        beams = candidates[:beam]
    score, seq, _ = max(beams, key=lambda b: b[0] / (len(b[1]) - 1))  # wrong, named
    return seq[1:], float(score)
