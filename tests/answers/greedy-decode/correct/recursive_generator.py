import itertools

import torch


def _tokens(step, prefix, eos):
    """Yield tokens for ever, or until eos."""
    while True:
        scores = step(torch.tensor(prefix, dtype=torch.int64)[None])[0]
        best = (scores == scores.max()).nonzero()[0].item()
        yield best
        if best == eos:
            return
        prefix = prefix + [best]


def greedy_decode(step, bos, eos, max_len):
    return list(itertools.islice(_tokens(step, [bos], eos), max_len))
