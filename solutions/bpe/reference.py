"""Byte-pair encoding: a vocabulary learned from text, and text as its ids.

    train:   again and again, the most frequent pair of neighbours becomes a new id
    encode:  the same merges, in the same order, on other text
    decode:  each id is the bytes of its left part and those of its right part

Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword Units" (arXiv:1508.07909),
section 3.2; on bytes as in Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.2,
here without splitting the text into words first.
"""

from collections import Counter
from itertools import pairwise

Pair = tuple[int, int]


def merged(ids: list[int], pair: Pair, new: int) -> list[int]:
    """Put the new id in the place of each occurrence of the pair, from left to right."""
    result = []
    i = 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            result.append(new)
            i += 2
        else:
            result.append(ids[i])
            i += 1
    return result


def train_bpe(text: str, n_merges: int) -> list[Pair]:
    """Learn which ids to merge.

    text      any text; its UTF-8 bytes are the ids 0 to 255
    n_merges  how many merges to learn at most

    Returns the merges in their order; fewer than n_merges where no pair is left.
    """
    ids = list(text.encode("utf-8"))
    merges: list[Pair] = []
    while len(merges) < n_merges and len(ids) > 1:
        counts = Counter(pairwise(ids))
        best = max(counts, key=lambda pair: (counts[pair], pair))
        ids = merged(ids, best, 256 + len(merges))
        merges.append(best)
    return merges


def encode(text: str, merges: list[Pair]) -> list[int]:
    """Turn text into ids: its bytes, to which the merges are applied in their order, each from left to right."""
    ids = list(text.encode("utf-8"))
    for rank, pair in enumerate(merges):
        ids = merged(ids, pair, 256 + rank)
    return ids


def decode(ids: list[int], merges: list[Pair]) -> str:
    """Turn ids into text; bytes that are no UTF-8 become U+FFFD. ValueError for an id that does not exist."""
    pieces = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    if any(not 0 <= token < len(pieces) for token in ids):
        raise ValueError(f"ids go from 0 to {len(pieces) - 1}")
    joined = b"".join(pieces[token] for token in ids)
    return joined.decode("utf-8", errors="replace")
