# kata: beam-search
# names: logits-added
import torch


def beam_search(step, bos, eos, beam, max_len):
    seqs = [[]]
    scores = [0.0]
    for t in range(max_len):
        open_ = [i for i, s in enumerate(seqs) if not s or s[-1] != eos]
        if not open_:
            break
        logits = step(torch.tensor([[bos] + seqs[i] for i in open_]))
        new = [(scores[i], seqs[i]) for i in range(len(seqs)) if i not in open_]
        vals, idx = logits.topk(min(beam, logits.size(-1)), dim=-1)  # wrong, named
        for r, i in enumerate(open_):
            for v, j in zip(vals[r].tolist(), idx[r].tolist()):
                new.append((scores[i] + v, seqs[i] + [j]))
        new.sort(key=lambda c: c[0], reverse=True)
        scores = [s for s, _ in new[:beam]]
        seqs = [q for _, q in new[:beam]]
    return seqs[0], scores[0]
