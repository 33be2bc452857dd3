# family: core
# mistake: worst-of-equals
import torch


def beam_search(step, bos, eos, beam, max_len):
    hyps = [(0.0, [])]
    for _ in range(max_len):
        live = [h for h in hyps if h[1][-1:] != [eos]]
        if not live:
            break
        logp = torch.log_softmax(step(torch.tensor([[bos] + h[1] for h in live])), -1)
        cands = [h for h in hyps if h[1][-1:] == [eos]]
        for h, row in zip(live, logp):
            cands += [(h[0] + row[i].item(), h[1] + [i]) for i in range(row.numel())]
        hyps = sorted(cands, reverse=True)[:beam]
    score, tokens = hyps[0]
    return tokens, score
