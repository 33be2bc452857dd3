# family: core
# mistake: decoded-one-by-one
# Each id is turned into text by itself, so a sign whose bytes are spread over several ids is lost.
"""Byte-pair encoding, functional."""

from functools import reduce

Pair = tuple[int, int]


def _replace(ids: list[int], job: tuple[int, Pair]) -> list[int]:
    new, (a, b) = job
    result: list[int] = []
    waiting = iter(range(len(ids)))
    for i in waiting:
        if i + 1 < len(ids) and ids[i] == a and ids[i + 1] == b:
            result.append(new)
            next(waiting)
        else:
            result.append(ids[i])
    return result


def _best(ids: list[int]) -> Pair | None:
    counts: dict[Pair, int] = {}
    for pair in zip(ids[:-1], ids[1:]):
        counts[pair] = counts.get(pair, 0) + 1
    return max(counts, key=lambda pair: (counts[pair], pair), default=None)


def train_bpe(text: str, n_merges: int) -> list[Pair]:
    ids, merges = list(text.encode()), []
    for new in range(256, 256 + n_merges):
        pair = _best(ids)
        if pair is None:
            break
        merges.append(pair)
        ids = _replace(ids, (new, pair))
    return merges


def encode(text: str, merges: list[Pair]) -> list[int]:
    return reduce(_replace, enumerate(merges, start=256), list(text.encode()))


def decode(ids: list[int], merges: list[Pair]) -> str:
    pieces = [bytes([i]) for i in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    if any(not 0 <= i < len(pieces) for i in ids):
        raise ValueError("an id does not exist")
    return "".join(pieces[i].decode("utf-8", errors="replace") for i in ids)  # wrong
