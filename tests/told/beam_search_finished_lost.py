# kata: beam-search
# names:
import heapq
import torch


def beam_search(step, bos, eos, beam, max_len):
    alive, finished = [(0.0, [bos])], []
    for t in range(max_len):
        prefixes = torch.tensor([tokens for _, tokens in alive])
        logp = step(prefixes).log_softmax(-1)
        candidates = []
        for row, (score, tokens) in enumerate(alive):
            values, indices = logp[row].topk(min(beam, logp.size(-1)))
            for value, index in zip(values.tolist(), indices.tolist()):
                candidates.append((score + value, tokens + [index]))
        candidates.sort(key=lambda c: -c[0])
        alive = []
        for score, tokens in candidates[:beam]:
            if tokens[-1] == eos:  # wrong
                finished.append((score, tokens))
            else:
                alive.append((score, tokens))
        if not alive:
            break
    score, tokens = max(finished or alive, key=lambda c: c[0])  # whatever is alive is worth less
    return tokens[1:], score
