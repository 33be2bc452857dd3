# family: core
# mistake: finished-set-aside
import torch
import torch.nn.functional as F


def beam_search(step, bos, eos, beam, max_len):
    beams = [([bos], 0.0)]
    completed = []
    for _ in range(max_len):
        tokens = torch.tensor([b[0] for b in beams])
        logp = F.log_softmax(step(tokens), dim=-1)
        candidates = []
        for i, (seq, score) in enumerate(beams):
            for j in range(logp.size(-1)):
                candidates.append((seq + [j], score + logp[i, j].item()))
        candidates.sort(key=lambda c: c[1], reverse=True)
        beams = []
        for seq, score in candidates[:beam]:
            if seq[-1] == eos:
                completed.append((seq, score))
            else:
                beams.append((seq, score))
        if not beams:
            break
    if not completed:
        completed = beams
    seq, score = max(completed, key=lambda c: c[1])
    return seq[1:], score
