# family: core
# mistake: stops-at-pairs-that-occur-once
# Training stops where the most frequent pair occurs only once; such a pair has to be merged, too.
from collections import defaultdict

Pair = tuple[int, int]


class Vocabulary:
    """Bytes of every id, and how ids are merged."""

    def __init__(self, merges: list[Pair]) -> None:
        self.pieces = [bytes((b,)) for b in range(256)]
        self.merges: list[Pair] = []
        for a, b in merges:
            self.add((a, b))

    def add(self, pair: Pair) -> None:
        self.merges.append(pair)
        self.pieces.append(self.pieces[pair[0]] + self.pieces[pair[1]])

    @staticmethod
    def replace(ids: list[int], pair: Pair, new: int) -> list[int]:
        result: list[int] = []
        position = 0
        while position < len(ids):
            if tuple(ids[position : position + 2]) == pair:
                result.append(new)
                position += 2
            else:
                result.append(ids[position])
                position += 1
        return result


def train_bpe(text: str, n_merges: int) -> list[Pair]:
    vocabulary = Vocabulary([])
    ids = list(text.encode("utf-8"))
    while len(vocabulary.merges) < n_merges:
        counts: dict[Pair, int] = defaultdict(int)
        for left, right in zip(ids[:-1], ids[1:]):
            counts[left, right] += 1
        if not counts or max(counts.values()) < 2:  # wrong
            break
        _, pair = max((count, pair) for pair, count in counts.items())
        ids = Vocabulary.replace(ids, pair, len(vocabulary.pieces))
        vocabulary.add(pair)
    return vocabulary.merges


def encode(text: str, merges: list[Pair]) -> list[int]:
    ids = list(text.encode("utf-8"))
    for new, (a, b) in enumerate(merges, start=256):
        ids = Vocabulary.replace(ids, (a, b), new)
    return ids


def decode(ids: list[int], merges: list[Pair]) -> str:
    pieces = Vocabulary(merges).pieces
    if any(i < 0 or i >= len(pieces) for i in ids):
        raise ValueError("an id that does not exist")
    return b"".join([pieces[i] for i in ids]).decode("utf-8", errors="replace")
