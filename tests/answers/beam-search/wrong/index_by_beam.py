# family: core
# mistake: none
import torch


def beam_search(step, bos, eos, beam, max_len):
    tokens, scores, best = torch.tensor([[bos]]), torch.zeros(1), None
    for t in range(max_len):
        logits = step(tokens)
        logp = torch.log_softmax(logits.float(), dim=-1)
        total = scores.to(logp.device)[:, None] + logp
        vals, idx = torch.sort(total.flatten(), descending=True, stable=True)
        vals, idx = vals[:beam], idx[:beam]
        parents, ids = idx // beam, idx % logp.size(1)
        parents = parents.clamp(max=tokens.size(0) - 1)
        tokens = torch.cat([tokens.to(ids.device)[parents], ids[:, None]], dim=1)
        scores = vals
        if ids[0].item() == eos:
            break
    return tokens[0, 1:].tolist(), scores[0].item()
