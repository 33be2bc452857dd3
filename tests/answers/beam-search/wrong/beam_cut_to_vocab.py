# family: core
# mistake: beam-cut-to-vocab
import torch


def beam_search(step, bos, eos, beam, max_len):
    """Keeps no more hypotheses than there are tokens."""
    kept = [([], 0.0)]
    for _ in range(max_len):
        live = [tokens for tokens, _ in kept if not tokens or tokens[-1] != eos]
        if not live:
            break
        logits = step(torch.tensor([[bos, *tokens] for tokens in live]))
        logits = logits if logits.dtype == torch.float64 else logits.float()
        log_probs = torch.log_softmax(logits, dim=-1)
        vocab, scores, origins, row = log_probs.size(-1), [], [], 0
        for tokens, score in kept:
            if tokens and tokens[-1] == eos:
                scores.append(log_probs.new_full((1,), score))
                origins.append(tokens)
            else:
                scores.append(score + log_probs[row])
                origins += [[*tokens, token] for token in range(vocab)]
                row += 1
        best, indices = torch.cat(scores).sort(descending=True, stable=True)
        best, indices = best[: min(beam, vocab)], indices[: min(beam, vocab)]
        kept = [(origins[i], score) for i, score in zip(indices.tolist(), best.tolist())]
    return kept[0]
