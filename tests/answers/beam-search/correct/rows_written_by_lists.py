import torch


def beam_search(step, bos, eos, beam, max_len):
    """The table of candidates is filled in place: rows are picked by Python lists of their numbers."""
    tokens = torch.full((1, 1), bos, dtype=torch.int64)
    scores = [0.0]
    ended = [False]
    for _ in range(max_len):
        alive = [row for row, is_over in enumerate(ended) if not is_over]
        if not alive:
            break
        log_probs = torch.log_softmax(step(tokens[alive]), dim=-1)
        width = min(beam, log_probs.size(-1))
        order = log_probs.sort(dim=-1, descending=True, stable=True)
        best_values = torch.full((len(ended), width), float("-inf"), dtype=log_probs.dtype, device=log_probs.device)
        best_ids = torch.full((len(ended), width), eos, dtype=torch.int64, device=log_probs.device)
        best_values[alive] = order.values[:, :width]
        best_ids[alive] = order.indices[:, :width]
        if len(alive) < len(ended):
            best_values[[row for row in range(len(ended)) if ended[row]], [0]] = 0.0

        candidates = []
        for row, is_over in enumerate(ended):
            if is_over:
                candidates.append((scores[row], row, eos, True))
                continue
            for value, token in zip(best_values[row].tolist(), best_ids[row].tolist()):
                candidates.append((scores[row] + value, row, token, token == eos))
        candidates.sort(key=lambda c: c[0], reverse=True)
        kept = candidates[:beam]
        grown = torch.full((len(kept), tokens.size(1) + 1), eos, dtype=torch.int64)
        grown[:, :-1] = tokens[[c[1] for c in kept]]
        grown[list(range(len(kept))), [-1] * len(kept)] = torch.tensor([c[2] for c in kept])
        tokens, scores, ended = grown, [c[0] for c in kept], [c[3] for c in kept]
    written = tokens[0, 1:].tolist()
    if eos in written:
        written = written[: written.index(eos) + 1]
    return written, float(scores[0])
