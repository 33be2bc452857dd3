import heapq
import itertools
from collections import defaultdict


def train_bpe(text: str, n_merges: int) -> list[tuple[int, int]]:
    ids = list(text.encode("utf-8"))
    merges = []
    for new in itertools.count(256):
        if len(merges) == n_merges or len(ids) < 2:
            return merges
        places = defaultdict(int)
        for pair in itertools.pairwise(ids):
            places[pair] += 1
        best = (0, (-1, -1))
        for pair, count in places.items():
            if (count, pair) > best:
                best = (count, pair)
        merges.append(best[1])
        shorter = []
        for token in ids:
            # the pair is made in place, unless what stands there is already the new id
            if shorter and (shorter[-1], token) == best[1]:
                shorter[-1] = new
            else:
                shorter.append(token)
        ids = shorter


def encode(text, merges):
    """A queue of (rank, place); who was merged meanwhile is passed over."""
    tokens = list(text.encode("utf-8"))
    n = len(tokens)
    after, before = list(range(1, n + 1)), list(range(-1, n - 1))
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    heap = []

    def push(i):
        if i >= 0 and after[i] < n and (pair := (tokens[i], tokens[after[i]])) in ranks:
            heapq.heappush(heap, (ranks[pair], i, pair))

    for i in range(n):
        push(i)
    while heap:
        rank, i, pair = heapq.heappop(heap)
        j = after[i] if tokens[i] is not None else n
        if j >= n or (tokens[i], tokens[j]) != pair:
            continue
        tokens[i], tokens[j] = 256 + rank, None
        after[i] = after[j]
        if after[i] < n:
            before[after[i]] = i
        push(i)
        push(before[i])
    return [token for token in tokens if token is not None]


def decode(ids, merges):
    table = [bytes((byte,)) for byte in range(256)]
    for a, b in merges:
        table += [table[a] + table[b]]
    out = bytearray()
    for token in ids:
        if not 0 <= token < len(table):
            raise ValueError(f"id {token}")
        out += table[token]
    return str(out, "utf-8", "replace")
