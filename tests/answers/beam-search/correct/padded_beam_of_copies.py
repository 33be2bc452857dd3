import math

import torch


def beam_search(step, bos, eos, beam, max_len):
    seqs = torch.full((beam, 1), bos, dtype=torch.int64)
    total = [0.0] + [-math.inf] * (beam - 1)
    lengths = [0] * beam
    over = [False] * beam
    for _ in range(max_len):
        logits = step(seqs)
        high = logits.dtype if logits.dtype == torch.float64 else torch.float32
        logp = logits.to(high).softmax(dim=-1).log()
        vals, toks = torch.sort(logp, dim=-1, descending=True, stable=True)
        cands = []
        for b in range(beam):
            if total[b] == -math.inf:
                continue
            if over[b]:
                cands.append((total[b], b, None))
                continue
            for j in range(min(beam, logp.shape[-1])):
                cands.append((total[b] + vals[b, j].item(), b, toks[b, j].item()))
        cands = sorted(cands, key=lambda c: c[0], reverse=True)[:beam]
        cands += [(-math.inf, 0, eos)] * (beam - len(cands))
        rows = torch.tensor([c[1] for c in cands])
        last = torch.tensor([eos if c[2] is None else c[2] for c in cands])
        seqs = torch.cat([seqs[rows], last[:, None]], dim=1)
        lengths = [lengths[b] + (tok is not None) for _, b, tok in cands]
        over = [tok is None or tok == eos for _, b, tok in cands]
        total = [c[0] for c in cands]
        if all(over):
            break
    return seqs[0, 1 : 1 + lengths[0]].tolist(), total[0]
