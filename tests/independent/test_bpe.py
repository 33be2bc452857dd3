"""bpe against a slow second version: counts by slicing, encoding by the lowest rank, a walk for the bytes."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from tests.references import reference

Piece = bytes
TEXTS = [
    "aaabdaaabac",
    "",
    "a",
    "low lower lowest newest newer new",
    "你好 你好 世界 世界你好",
    "e\u0301é \U0001f600\U0001f468\u200d\U0001f469 \x00\r\n",
    "abababab zyzyzyzy abab",
]


def fuse(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
    """Replace by recursion: what stands in front, then the rest."""
    for i in range(len(ids) - 1):
        if ids[i] == pair[0] and ids[i + 1] == pair[1]:
            return [*ids[:i], new, *fuse(ids[i + 2 :], pair, new)]
    return ids


def train(text: str, n_merges: int) -> list[tuple[int, int]]:
    """Ask of each pair that could be there how often it is."""
    ids, merges = list(text.encode()), []
    while len(ids) > 1 and len(merges) < n_merges:
        present = sorted(set(pairwise(ids)), reverse=True)
        counts = [sum(ids[i : i + 2] == list(pair) for i in range(len(ids) - 1)) for pair in present]
        merges.append(present[counts.index(max(counts))])
        ids = fuse(ids, merges[-1], 255 + len(merges))
    return merges


def encode(text: str, merges: list[tuple[int, int]]) -> list[int]:
    """Look at the pairs that are there, and merge the one that was learned first."""
    ids = list(text.encode())
    while True:
        ranks = [merges.index(pair) for pair in pairwise(ids) if pair in merges]
        if not ranks:
            return ids
        ids = fuse(ids, merges[min(ranks)], 256 + min(ranks))


def spelled(token: int, merges: list[tuple[int, int]]) -> Piece:
    """The bytes of an id."""
    return bytes([token]) if token < 256 else b"".join(spelled(part, merges) for part in merges[token - 256])


def texts() -> list[str]:
    """The texts above, and random ones of few letters."""
    source = random.Random(3)
    return TEXTS + ["".join(source.choices(letters, k=40)) for letters in ("ab", "abc ", "aé你") for _ in range(5)]


@pytest.mark.parametrize("n_merges", [0, 1, 3, 10, 60])
def test_training(n_merges: int) -> None:
    """The merges, their number where a text runs out of pairs included."""
    for text in texts():
        assert reference("bpe").train_bpe(text, n_merges) == train(text, n_merges)


def test_there_and_back() -> None:
    """Every text is encoded with the merges of every other one: the ids agree, their bytes are the text's."""
    own = reference("bpe")
    for learned in texts()[::3]:
        merges = train(learned, 15)
        for text in texts():
            ids = own.encode(text, merges)
            assert ids == encode(text, merges)
            assert b"".join(spelled(token, merges) for token in ids) == text.encode()
            assert own.decode(ids, merges) == text


def test_ids_in_any_order() -> None:
    """Ids that no text gives: the bytes, with U+FFFD where they are no UTF-8; other numbers are refused."""
    own, source = reference("bpe"), random.Random(4)
    merges = train("你好世界" * 3 + "abcabc", 12)
    for _ in range(100):
        ids = source.choices(range(256 + len(merges)), k=8)
        assert own.decode(ids, merges) == b"".join(spelled(token, merges) for token in ids).decode(errors="replace")
    for unknown in (-1, 256 + len(merges), 10**6):
        with pytest.raises(ValueError, match="ids go from 0 to 267"):
            own.decode([97, unknown], merges)
