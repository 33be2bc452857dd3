# family: contract
# mistake: index-error
# The check of the ids is off by one, the first id behind the last merge gives an IndexError.
def merge_pair(ids, pair, new_id):
    """Put new_id in the place of every pair, from left to right."""
    out = list(ids)
    i = 0
    while i < len(out) - 1:
        if out[i] == pair[0] and out[i + 1] == pair[1]:
            out[i : i + 2] = [new_id]
        i += 1
    return out


def train_bpe(text, n_merges):
    ids = [byte for byte in text.encode("utf-8")]
    merges = []
    for k in range(n_merges):
        # count all neighbours
        counts = {}
        for i in range(len(ids) - 1):
            pair = (ids[i], ids[i + 1])
            counts[pair] = counts.get(pair, 0) + 1
        if len(counts) == 0:
            return merges
        # the most frequent, of those the greatest
        most = max(counts.values())
        best = max(pair for pair, count in counts.items() if count == most)
        merges.append(best)
        ids = merge_pair(ids, best, 256 + k)
    return merges


def encode(text, merges):
    ids = [byte for byte in text.encode("utf-8")]
    for k in range(len(merges)):
        ids = merge_pair(ids, merges[k], 256 + k)
    return ids


def decode(ids, merges):
    vocab = [bytes([b]) for b in range(256)]
    for a, b in merges:
        vocab.append(vocab[a] + vocab[b])
    data = bytearray()
    for i in ids:
        if i < 0 or i > 256 + len(merges):  # wrong
            raise ValueError("there is no id " + str(i))
        data += vocab[i]
    return bytes(data).decode("utf-8", errors="replace")
