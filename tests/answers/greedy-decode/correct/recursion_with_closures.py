import torch


def greedy_decode(step, bos, eos, max_len):
    def go(prefix, room):
        logits = step(prefix)
        ids = torch.arange(logits.shape[1], device=logits.device)
        best = ids.masked_fill(logits[0] != logits[0].amax(), logits.shape[1]).amin()
        y = best.item()
        if y == eos or room == 1:
            return (y,)
        return (y, *go(torch.hstack([prefix.to(best.device), best.view(1, 1)]), room - 1))

    return [*go(torch.full((1, 1), bos), max_len)]
