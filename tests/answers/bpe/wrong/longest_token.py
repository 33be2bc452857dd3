# family: core
# mistake: longest-match
from collections import Counter


def table(merges):
    vocab = [bytes([b]) for b in range(256)]
    for a, b in merges:
        vocab.append(vocab[a] + vocab[b])
    return vocab


def train_bpe(text, n_merges):
    ids, merges = list(text.encode("utf-8")), []
    while len(merges) < n_merges and len(ids) > 1:
        counts = Counter(zip(ids, ids[1:]))
        pair = max(counts, key=lambda p: (counts[p], p))
        out, i = [], 0
        while i < len(ids):
            hit = tuple(ids[i : i + 2]) == pair
            out.append(256 + len(merges) if hit else ids[i])
            i += 1 + hit
        ids = out
        merges.append(pair)
    return merges


def encode(text, merges):
    ids = {piece: i for i, piece in reversed(list(enumerate(table(merges))))}
    data, out, start = text.encode("utf-8"), [], 0
    while start < len(data):
        end = len(data)
        while data[start:end] not in ids:
            end -= 1
        out.append(ids[data[start:end]])
        start = end
    return out


def decode(ids, merges):
    vocab = table(merges)
    if any(i < 0 or i >= len(vocab) for i in ids):
        raise ValueError("unknown id")
    return b"".join(vocab[i] for i in ids).decode("utf-8", errors="replace")
