# family: core
# mistake: stops-at-first-end
# The search stops as soon as any hypothesis is finished, not when all are.
import torch
from torch import Tensor


def beam_search(step, bos: int, eos: int, beam: int, max_len: int):
    tokens: list[list[int]] = [[]]
    scores: list[float] = [0.0]
    done: list[bool] = [False]

    for _ in range(max_len):
        if any(done):  # wrong
            break
        live = [i for i in range(len(tokens)) if not done[i]]
        inp = torch.tensor([[bos] + tokens[i] for i in live])
        out: Tensor = step(inp).to(torch.float64)
        logp = out - out.logsumexp(dim=-1, keepdim=True)
        vocab = logp.size(-1)

        cand = torch.full((len(tokens), vocab), -torch.inf, dtype=torch.float64, device=logp.device)
        for r, i in enumerate(live):
            cand[i] = logp[r] + scores[i]
        for i in range(len(tokens)):
            if done[i]:
                cand[i, 0] = scores[i]

        best, pos = cand.flatten().sort(descending=True, stable=True)
        best, pos = best[:beam].tolist(), pos[:beam].tolist()
        nt, ns, nd = [], [], []
        for b, p in zip(best, pos):
            if b == -torch.inf:
                continue
            par, tok = p // vocab, p % vocab
            if done[par]:
                nt.append(tokens[par]); ns.append(scores[par]); nd.append(True)
            else:
                nt.append(tokens[par] + [tok]); ns.append(b); nd.append(tok == eos)
        tokens, scores, done = nt, ns, nd

    return tokens[0], scores[0]
