# family: core
# mistake: stops-at-first-end
# The search stops as soon as any kept hypothesis is finished, not when all are.
import torch


def beam_search(step, bos, eos, beam, max_len):
    hyps = [([], 0.0, False)]
    for _ in range(max_len):
        if any(done for _, _, done in hyps):  # wrong
            break
        live = [ids for ids, _, done in hyps if not done]
        lp = step(torch.tensor([[bos] + ids for ids in live])).double().log_softmax(-1)
        V, rows, cand = lp.shape[1], iter(lp), []
        for ids, s, done in hyps:
            cand.append(lp.new_tensor([s]) if done else next(rows) + s)
        src = [(i, None) if hyps[i][2] else (i, V) for i in range(len(hyps))]
        top, idx = torch.cat(cand).sort(dim=-1, descending=True, stable=True)
        out = []
        for s, j in zip(top[:beam].tolist(), idx[:beam].tolist()):
            if s == -float("inf"): break
            for i, size in src:
                if j < (size or 1): break
                j -= size or 1
            out.append(hyps[i] if size is None else (hyps[i][0] + [j], s, j == eos))
        hyps = out
    return list(hyps[0][0]), hyps[0][1]
