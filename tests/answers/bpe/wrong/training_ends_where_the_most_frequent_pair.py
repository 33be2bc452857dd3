# family: core
# mistake: stops-at-pairs-that-occur-once
# Training ends where the most frequent pair occurs only once, though there are pairs left.
from collections import Counter


def _merge(ids, pair, new):
    out = []
    i = 0
    while i < len(ids):
        if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def train_bpe(text, n_merges):
    ids = list(text.encode("utf-8"))
    merges = []
    while len(merges) < n_merges:
        counts = Counter(zip(ids, ids[1:]))
        if not counts:
            break
        pair, count = max(counts.items(), key=lambda item: (item[1], item[0]))
        if count < 2:  # wrong
            break
        ids = _merge(ids, pair, 256 + len(merges))
        merges.append(pair)
    return merges


def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for i, pair in enumerate(merges):
        ids = _merge(ids, tuple(pair), 256 + i)
    return ids


def decode(ids, merges):
    table = {i: bytes([i]) for i in range(256)}
    for i, (a, b) in enumerate(merges):
        table[256 + i] = table[a] + table[b]
    for i in ids:
        if i not in table:
            raise ValueError(f"no such id: {i}")
    return b"".join(table[i] for i in ids).decode("utf-8", errors="replace")
