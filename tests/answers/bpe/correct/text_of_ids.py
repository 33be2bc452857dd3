"""Ids as characters of a private text, so that str.replace does the merging."""

from collections import Counter

FIRST = 0xF0000


def char(token):
    return chr(FIRST + token)


def letters(text):
    return "".join(map(char, text.encode("utf-8")))


def numbers(string):
    return [ord(c) - FIRST for c in string]


def train_bpe(text, n_merges):
    string, merges = letters(text), []
    while len(merges) < n_merges:
        counts = Counter(string[i : i + 2] for i in range(len(string) - 1))
        if not counts:
            return merges
        most = max(counts.values())
        pair = max(p for p, count in counts.items() if count == most)
        string = string.replace(pair, char(256 + len(merges)))
        merges.append(tuple(numbers(pair)))
    return merges


def encode(text, merges):
    string = letters(text)
    for i, pair in enumerate(merges, 256):
        string = string.replace("".join(map(char, pair)), char(i))
    return numbers(string)


def decode(ids, merges):
    def pieces(token):
        if token < 0 or token >= 256 + len(merges):
            raise ValueError(token)
        if token < 256:
            return [token]
        left, right = merges[token - 256]
        return pieces(left) + pieces(right)

    return bytes(byte for token in ids for byte in pieces(token)).decode("utf-8", errors="replace")
