# family: core
# mistake: none
"""Compares equal pairs by the bytes they stand for, as some courses want it."""

from collections import Counter


def train_bpe(text, n_merges):
    ids, merges = list(text.encode("utf-8")), []
    vocab = [bytes([b]) for b in range(256)]
    while len(merges) < n_merges and len(ids) > 1:
        counts = Counter(zip(ids, ids[1:]))
        pair = max(counts, key=lambda p: (counts[p], vocab[p[0]], vocab[p[1]]))
        ids = merge(ids, pair, len(vocab))
        vocab.append(vocab[pair[0]] + vocab[pair[1]])
        merges.append(pair)
    return merges


def merge(ids, pair, new):
    out = []
    for token in ids:
        if out and out[-1] == pair[0] and token == pair[1]:
            out[-1] = new
        else:
            out.append(token)
    return out


def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for i, pair in enumerate(merges):
        ids = merge(ids, pair, 256 + i)
    return ids


def decode(ids, merges):
    vocab = [bytes([b]) for b in range(256)]
    for a, b in merges:
        vocab.append(vocab[a] + vocab[b])
    if any(i not in range(len(vocab)) for i in ids):
        raise ValueError("unknown id")
    return b"".join(vocab[i] for i in ids).decode("utf-8", errors="replace")
