import torch


def positions(ids, pair):
    """Where the pair is merged: of overlapping places every second one, from the left."""
    hits = ((ids[:-1] == pair[0]) & (ids[1:] == pair[1])).nonzero().flatten().tolist()
    kept, last = [], -2
    for hit in hits:
        if hit > last + 1:
            kept.append(hit)
            last = hit
    return kept


def merge(ids, pair, new):
    kept = positions(ids, pair)
    if not kept:
        return ids
    at = torch.tensor(kept)
    ids = ids.clone()
    ids[at] = new
    stays = torch.ones(len(ids), dtype=torch.bool)
    stays[at + 1] = False
    return ids[stays]


def tensor(text):
    return torch.tensor(list(text.encode("utf-8")), dtype=torch.int64)


def train_bpe(text, n_merges):
    ids, merges = tensor(text), []
    while len(merges) < n_merges and len(ids) > 1:
        pairs, counts = torch.stack([ids[:-1], ids[1:]], 1).unique(dim=0, return_counts=True)
        best = pairs[counts == counts.max()][-1]  # unique has sorted them
        merges.append((int(best[0]), int(best[1])))
        ids = merge(ids, merges[-1], 255 + len(merges))
    return merges


def encode(text, merges):
    ids = tensor(text)
    for number, pair in enumerate(merges):
        ids = merge(ids, pair, 256 + number)
    return ids.tolist()


def decode(ids, merges):
    table = [[byte] for byte in range(256)]
    for left, right in merges:
        table.append(table[left] + table[right])
    for token in ids:
        if token < 0 or len(table) <= token:
            raise ValueError("no such id")
    return bytes(sum((table[token] for token in ids), [])).decode(errors="replace")
