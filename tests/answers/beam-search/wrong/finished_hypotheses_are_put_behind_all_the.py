# family: core
# mistake: none
# Finished hypotheses are put behind all the extended ones, so ties are not in the parents' order.
import torch


def beam_search(step, bos, eos, beam, max_len):
    alive = [([], 0.0)]
    rank_alive = [0]
    finished, rank_finished = [], []
    ranking = [("alive", 0)]
    for _ in range(max_len):
        if not alive:
            break
        logits = step(torch.tensor([[bos] + ids for ids, _ in alive], dtype=torch.int64))
        logp = logits.double().log_softmax(-1)
        base = torch.tensor([s for _, s in alive], dtype=logp.dtype, device=logp.device)
        extended = (base[:, None] + logp).reshape(-1)
        ended = torch.tensor([s for _, s in finished], dtype=logp.dtype, device=logp.device)
        pool = torch.cat([extended, ended])  # wrong
        val, idx = torch.sort(pool, descending=True, stable=True)
        val, idx = val[:beam].tolist(), idx[:beam].tolist()
        V, n_ext = logp.shape[1], extended.numel()
        new_alive, new_finished, ranking = [], [], []
        for s, i in zip(val, idx):
            if s == float("-inf"):
                continue
            if i >= n_ext:
                ranking.append(("fin", len(new_finished)))
                new_finished.append(finished[i - n_ext])
                continue
            ids = alive[i // V][0] + [i % V]
            if i % V == eos:
                ranking.append(("fin", len(new_finished)))
                new_finished.append((ids, s))
            else:
                ranking.append(("alive", len(new_alive)))
                new_alive.append((ids, s))
        alive, finished = new_alive, new_finished
    kind, i = ranking[0]
    return (alive if kind == "alive" else finished)[i]
