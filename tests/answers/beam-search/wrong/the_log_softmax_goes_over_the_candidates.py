# family: core
# mistake: none
# The log-softmax goes over the candidates of all hypotheses together, not over each one's vocabulary.
import torch


def beam_search(step, bos, eos, beam, max_len):
    paths, totals, ended = [[]], [0.0], [False]
    while not all(ended) and max(len(p) for p in paths) < max_len:
        rows = torch.tensor([[bos] + p for p, e in zip(paths, ended) if not e])
        logits = step(rows).double()
        logp = logits.flatten().log_softmax(0).view_as(logits)  # wrong
        # candidates, in the order of their parents
        parts, start, offsets, row = [], 0, [], iter(logp)
        for total, e in zip(totals, ended):
            part = logp.new_tensor([total]) if e else next(row) + total
            offsets.append(start)
            start += part.numel()
            parts.append(part)
        flat = torch.cat(parts)
        order = flat.argsort(descending=True, stable=True)[:beam]
        chosen = list(zip(order.tolist(), flat[order].tolist()))
        new_paths, new_totals, new_ended = [], [], []
        for place, total in chosen:
            if total == -float("inf"):
                continue
            parent = max(i for i, offset in enumerate(offsets) if offset <= place)
            token = place - offsets[parent]
            if ended[parent]:
                new_paths.append(paths[parent])
                new_ended.append(True)
            else:
                new_paths.append(paths[parent] + [token])
                new_ended.append(token == eos)
            new_totals.append(total)
        paths, totals, ended = new_paths, new_totals, new_ended
    return paths[0], totals[0]
