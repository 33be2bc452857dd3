# family: core
# mistake: none
# A wide beam stops when more than half of its hypotheses have ended.
import torch


def beam_search(step, bos, eos, beam, max_len):
    kept = [([], 0.0, False)]  # tokens, score, finished
    for _ in range(max_len):
        open_rows = [i for i, h in enumerate(kept) if not h[2]]
        if not open_rows:
            break
        tokens = torch.tensor([[bos, *kept[i][0]] for i in open_rows], dtype=torch.int64)
        logp = torch.log_softmax(step(tokens).double(), dim=-1)
        vocab = logp.shape[-1]
        pieces, origin, r = [], [], 0
        for i, (_, score, done) in enumerate(kept):
            if done:
                pieces.append(logp.new_tensor([score]))
                origin.append((i, 1))
            else:
                pieces.append(logp[r] + score)
                origin.append((i, vocab))
                r += 1
        flat = torch.cat(pieces)
        best, order = torch.sort(flat, descending=True, stable=True)
        best, order = best[:beam].tolist(), order[:beam].tolist()
        fresh = []
        for value, place in zip(best, order):
            if value == float("-inf"):
                break
            for i, size in origin:
                if place < size:
                    break
                place -= size
            words, score, done = kept[i]
            fresh.append(kept[i] if done else (words + [place], value, place == eos))
        kept = fresh
        if sum(h[2] for h in kept) * 2 > len(kept) > 8:
            break  # wrong
    return kept[0][0], kept[0][1]
