from functools import reduce


class Tokenizer:
    def __init__(self, merges=()):
        self.merges = list(merges)

    @staticmethod
    def merge(ids, rule):
        (a, b), new = rule
        ids, out = list(ids), []
        while ids:
            head = ids.pop(0)
            if head == a and ids and ids[0] == b:
                ids.pop(0)
                head = new
            out.append(head)
        return out

    @property
    def rules(self):
        return [(pair, 256 + i) for i, pair in enumerate(self.merges)]

    def learn(self, ids):
        pairs = list(zip(ids[:-1], ids[1:]))
        pair = max(set(pairs), key=lambda p: (pairs.count(p), p))
        self.merges.append(pair)
        return self.merge(ids, self.rules[-1])

    def encode(self, text):
        return reduce(self.merge, self.rules, list(text.encode("utf-8")))

    def decode(self, ids):
        bad = [i for i in ids if i not in range(256 + len(self.merges))]
        if bad:
            raise ValueError(f"unknown: {bad}")
        ids = list(ids)
        # undo the merges, the last one first
        for pair, new in reversed(self.rules):
            ids = [part for i in ids for part in (pair if i == new else (i,))]
        return bytes(ids).decode("utf-8", errors="replace")


def train_bpe(text, n_merges):
    tokenizer, ids = Tokenizer(), list(text.encode("utf-8"))
    while n_merges > 0 and len(ids) > 1:
        ids = tokenizer.learn(ids)
        n_merges -= 1
    return tokenizer.merges


def encode(text, merges):
    return Tokenizer(merges).encode(text)


def decode(ids, merges):
    return Tokenizer(merges).decode(ids)
