# kata: beam-search
# names: a-call-for-each-hypothesis, length-normalised-with-bos, topk-of-equals
import torch


def beam_search(step, bos, eos, beam, max_len):
    beams = [([bos], 0.0, False)]
    for _ in range(max_len):
        if all(done for _, _, done in beams):
            break
        cands = []
        for seq, score, done in beams:
            if done:
                cands.append((seq, score, done))
                continue
            logp = torch.log_softmax(step(torch.tensor([seq]))[0].double(), dim=-1)
            top, ids = logp.topk(min(beam, logp.numel()))
            for lp, i in zip(top.tolist(), ids.tolist()):
                cands.append((seq + [i], score + lp, i == eos))
        beams = sorted(cands, key=lambda c: -c[1] / len(c[0]))[:beam]  # wrong, named
    best = beams[0]
    return best[0][1:], best[1]
