def get_pairs(ids):
    pairs = {}
    for a, b in zip(ids, ids[1:]):
        pairs[(a, b)] = pairs.get((a, b), 0) + 1
    return pairs


def replace(ids, pair, idx):
    out, i = [], 0
    while i < len(ids):
        if i < len(ids) - 1 and ids[i] == pair[0] and ids[i + 1] == pair[1]:
            out.append(idx)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def train_bpe(text, n_merges):
    ids = [*text.encode("utf-8")]
    merges = []
    for step in range(n_merges):
        pairs = get_pairs(ids)
        if not pairs:
            break
        pair = sorted(pairs, key=lambda p: (pairs[p], p[0], p[1]))[-1]
        ids = replace(ids, pair, 256 + step)
        merges.append(pair)
    return merges


def encode(text, merges):
    ranks = {tuple(pair): i for i, pair in enumerate(merges)}
    ids = list(text.encode())
    while len(ids) >= 2:
        pair = min(get_pairs(ids), key=lambda p: ranks.get(p, float("inf")))
        if pair not in ranks:
            break
        ids = replace(ids, pair, 256 + ranks[pair])
    return ids


def decode(ids, merges):
    vocab = {i: bytes([i]) for i in range(256)}
    for i, (a, b) in enumerate(merges):
        vocab[256 + i] = vocab[a] + vocab[b]
    try:
        return b"".join(vocab[i] for i in ids).decode("utf-8", "replace")
    except KeyError as unknown:
        raise ValueError(f"no id {unknown}") from None
