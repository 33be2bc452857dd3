# family: core
# mistake: decoded-one-by-one
# Decode turns every id into text by itself, so signs of several bytes that are spread over ids become U+FFFD.
def _merge(ids, pair, new):
    out = []
    for x in ids:
        if out and not out[-1][1] and (out[-1][0], x) == pair:
            out[-1] = (new, True)
        else:
            out.append((x, False))
    return [x for x, _ in out]


def train_bpe(text, n_merges):
    ids, merges = [*text.encode()], []
    for new in range(256, 256 + n_merges):
        counts = {}
        for p in zip(ids, ids[1:]): counts[p] = counts.get(p, 0) + 1
        if not counts: break
        merges.append(max(counts, key=lambda p: (counts[p], p)))
        ids = _merge(ids, merges[-1], new)
    return merges


def encode(text, merges):
    ids = [*text.encode()]
    for i, (a, b) in enumerate(merges): ids = _merge(ids, (a, b), 256 + i)
    return ids


def decode(ids, merges):
    vocab = [bytes([i]) for i in range(256)]
    for a, b in merges: vocab.append(vocab[a] + vocab[b])
    if any(not 0 <= i < len(vocab) for i in ids): raise ValueError("no such id")
    return "".join(vocab[i].decode("utf-8", errors="replace") for i in ids)  # wrong
