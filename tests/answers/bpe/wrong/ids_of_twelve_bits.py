# family: core
# mistake: none
"""Keeps the ids of its table in twelve bits."""

from collections import Counter


def merge(ids, pair, new):
    out = []
    i = 0
    while i < len(ids):
        if i + 1 < len(ids) and ids[i] == pair[0] and ids[i + 1] == pair[1]:
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def train_bpe(text, n_merges):
    ids = list(text.encode("utf-8"))
    merges = []
    for i in range(n_merges):
        counts = Counter(zip(ids, ids[1:]))
        if not counts:
            break
        best = max(counts, key=lambda p: (counts[p], p))
        merges.append(best)
        ids = merge(ids, best, 256 + i)
    return merges


def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for i, pair in enumerate(merges):
        ids = merge(ids, pair, 256 + i)
    return ids


def decode(ids, merges):
    vocab = {i: bytes([i]) for i in range(256)}
    for i, (a, b) in enumerate(merges):
        vocab[(256 + i) & 0xFFF] = vocab[a] + vocab[b]
    for i in ids:
        if i not in vocab:
            raise ValueError(f"no token {i}")
    return b"".join(vocab[i] for i in ids).decode("utf-8", errors="replace")
