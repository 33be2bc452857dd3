from collections import Counter


def _apply(ids, pair, new):
    i = 0
    ids = ids[:]
    while i + 1 < len(ids):
        if ids[i] == pair[0] and ids[i + 1] == pair[1]:
            ids[i : i + 2] = [new]
        i += 1
    return ids


def train_bpe(text, n_merges):
    """Merges are lists of two, which compare as tuples do."""
    data = [b for b in bytes(text, "utf8")]
    learned = []
    for _ in range(n_merges):
        c = Counter(zip(data, data[1:]))
        if len(c) == 0:
            break
        ranking = sorted(((n, p) for p, n in c.items()), reverse=True)
        learned.append(list(ranking[0][1]))
        data = _apply(data, learned[-1], 255 + len(learned))
    return learned


def encode(text, merges):
    data = [b for b in bytes(text, "utf8")]
    for i in range(len(merges)):
        data = _apply(data, merges[i], i + 256)
    return data


def decode(ids, merges):
    if len(ids) and (min(ids) < 0 or max(ids) > 255 + len(merges)):
        raise ValueError("id out of range")
    stack, out = list(reversed(ids)), []
    while stack:
        top = stack.pop()
        if top > 255:
            stack.extend(reversed(merges[top - 256]))
        else:
            out.append(top)
    return bytes(out).decode("utf-8", errors="replace")
