# family: core
# mistake: none
# A text is encoded in pieces of 1,000 characters: a pair across two of them is not merged.
from collections import Counter


def _merge(ids, pair, new):
    out, i = [], 0
    while i < len(ids):
        if i + 1 < len(ids) and ids[i] == pair[0] and ids[i + 1] == pair[1]:
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def train_bpe(text, n_merges):
    ids, merges = list(text.encode("utf-8")), []
    for i in range(n_merges):
        counts = Counter(zip(ids, ids[1:]))
        if not counts:
            break
        best = max(counts, key=lambda p: (counts[p], p))
        merges.append(best)
        ids = _merge(ids, best, 256 + i)
    return merges


def encode(text, merges):
    if len(text) > 1000:
        return encode(text[:1000], merges) + encode(text[1000:], merges)  # wrong
    ids = list(text.encode("utf-8"))
    for i, pair in enumerate(merges):
        ids = _merge(ids, pair, 256 + i)
    return ids


def decode(ids, merges):
    table = [bytes([b]) for b in range(256)]
    for a, b in merges:
        table.append(table[a] + table[b])
    if any(not 0 <= i < len(table) for i in ids):
        raise ValueError("no such id")
    return b"".join(table[i] for i in ids).decode("utf-8", errors="replace")
