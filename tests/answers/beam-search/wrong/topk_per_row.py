# family: core
# mistake: beam-exceeds-vocab
import torch


def beam_search(step, bos, eos, beam, max_len):
    hyps = [([], 0.0)]
    for _ in range(max_len):
        live = [h for h in hyps if not (h[0] and h[0][-1] == eos)]
        if not live:
            break
        logp = torch.log_softmax(step(torch.tensor([[bos] + h[0] for h in live])), -1)
        vals, ids = logp.topk(beam, dim=-1)
        cands = [h for h in hyps if h[0] and h[0][-1] == eos]
        for h, v, i in zip(live, vals.tolist(), ids.tolist()):
            cands += [(h[0] + [b], h[1] + a) for a, b in zip(v, i)]
        hyps = sorted(cands, key=lambda h: -h[1])[:beam]
    return hyps[0]
