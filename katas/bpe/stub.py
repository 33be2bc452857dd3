"""Byte-pair encoding: a vocabulary learned from text, and text as its ids."""

Pair = tuple[int, int]


def train_bpe(text: str, n_merges: int) -> list[Pair]:
    """Learn which ids to merge.

    text      any text; its UTF-8 bytes are the ids 0 to 255
    n_merges  how many merges to learn at most

    Each merge takes the pair of neighbouring ids that occurs most often, of equal counts the greater pair (compared as
    tuples), and puts a new id in its place: 256 for the first merge, 257 for the second. All neighbours count, those
    that overlap too; a pair is replaced from left to right.

    Returns the merges in their order; fewer than n_merges where no pair is left.
    """
    raise NotImplementedError("your turn: count pairs, take the best one, merge it, again and again")


def encode(text: str, merges: list[Pair]) -> list[int]:
    """Turn text into ids: its bytes, to which the merges are applied in their order, each from left to right."""
    raise NotImplementedError("your turn: bytes, then the merges")


def decode(ids: list[int], merges: list[Pair]) -> str:
    """Turn ids into text; bytes that are no UTF-8 become U+FFFD. ValueError for an id that does not exist."""
    raise NotImplementedError("your turn: the bytes of every id, put together")
