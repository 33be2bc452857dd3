import torch


def ranked(scores, k):
    """Positions of the k best, earlier ones first among equals."""
    k = min(k, scores.numel())
    threshold = torch.topk(scores, k).values[-1]
    above = (scores > threshold).nonzero().flatten()
    equal = (scores == threshold).nonzero().flatten()
    chosen = torch.cat([above, equal[: k - above.numel()]])
    return chosen[torch.argsort(scores[chosen], descending=True, stable=True)]


def beam_search(step, bos, eos, beam, max_len):
    with torch.inference_mode():
        beams = [([bos], 0.0)]
        finished = lambda h: len(h[0]) > 1 and h[0][-1] == eos  # noqa: E731
        for _ in range(max_len):
            if all(map(finished, beams)):
                break
            alive = [h for h in beams if not finished(h)]
            logp = torch.log_softmax(step(torch.tensor([h[0] for h in alive])), dim=1)
            picks = {}
            for h, row in zip(alive, logp):
                picks[tuple(h[0])] = [(i, row[i].item()) for i in map(int, ranked(row, beam))]
            pool = []
            for h in beams:
                if finished(h):
                    pool.append(h)
                else:
                    pool += [(h[0] + [i], h[1] + p) for i, p in picks[tuple(h[0])]]
            beams = sorted(pool, key=lambda h: h[1], reverse=True)[:beam]
        return beams[0][0][1:], float(beams[0][1])
