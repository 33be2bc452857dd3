# family: core
# mistake: first-seen-of-equals
# Of equal counts the pair that came first in the text is taken, not the greater one.
from collections import Counter


def merge(ids, pair, new_id):
    out, i = [], 0
    while i < len(ids):
        if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
            out.append(new_id)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def train_bpe(text, n_merges):
    ids, merges = list(text.encode("utf-8")), []
    for i in range(n_merges):
        stats = Counter(zip(ids, ids[1:]))
        if not stats:
            break
        pair = max(stats, key=stats.get)  # wrong
        merges.append(pair)
        ids = merge(ids, pair, 256 + i)
    return merges


def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for i, pair in enumerate(merges):
        ids = merge(ids, tuple(pair), 256 + i)
    return ids


def decode(ids, merges):
    vocab = [bytes([b]) for b in range(256)]
    for a, b in merges:
        vocab.append(vocab[a] + vocab[b])
    for i in ids:
        if not 0 <= i < len(vocab):
            raise ValueError(f"no such id: {i}")
    return b"".join(vocab[i] for i in ids).decode("utf-8", errors="replace")
