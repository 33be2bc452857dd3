# family: core
# mistake: begins-with-end
# Bos counts as an end when bos == eos, only a written eos should.
import torch


def beam_search(step, bos, eos, beam, max_len):
    beams = [([bos], 0.0)]

    def ended(seq):
        return seq[-1] == eos  # wrong

    for _ in range(max_len):
        todo = [s for s, _ in beams if not ended(s)]
        if not todo:
            break
        lp = torch.log_softmax(step(torch.tensor(todo)).double(), 1)
        v = lp.shape[1]
        grid = lp.new_full((len(beams), v), -float("inf"))
        j = 0
        for i, (s, sc) in enumerate(beams):
            if ended(s):
                grid[i, 0] = sc
            else:
                grid[i] = sc + lp[j]
                j += 1
        top, at = grid.view(-1).sort(descending=True, stable=True)
        nxt = []
        for sc, a in zip(top[:beam].tolist(), at[:beam].tolist()):
            if sc == -float("inf"):
                break
            s = beams[a // v][0]
            nxt.append((s, sc) if ended(s) else (s + [a % v], sc))
        beams = nxt
    seq, score = beams[0]
    return seq[1:], score
