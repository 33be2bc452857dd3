"""A parallel corpus as token ids, and how well a translation of it scores."""

from __future__ import annotations

import runpy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import torch

from grader import catalog
from grader.judge.cases.check import Check
from grader.judge.cases.modules import Module

PAD: Final = 0
BOS: Final = 1
EOS: Final = 2
SPECIAL: Final = ("<pad>", "<bos>", "<eos>")
FILE: Final = "corpus.tsv"
STEPS: Final = 160
BATCH: Final = 64
LONGEST: Final = 10
"""No sentence of a corpus takes more tokens."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """Pairs of sentences. Words are numbered in the order of the alphabet, behind padding, begin and end."""

    source: torch.Tensor
    """int64 (N, m): words, end, padding."""
    target: torch.Tensor
    """int64 (N, n): begin, words, end, padding."""
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]

    def batches(self, steps: int, size: int) -> torch.Tensor:
        """Return the rows of each batch, int64 (steps, size): each pair once, in a fixed order, then again."""
        generator = torch.Generator().manual_seed(0)
        epoch = len(self.source) // size
        rounds = [torch.randperm(len(self.source), generator=generator) for _ in range(0, steps, epoch)]
        rows = torch.cat([shuffled[: epoch * size] for shuffled in rounds])
        return rows.reshape(-1, size)[:steps]

    def row(self, sentence: str) -> int:
        """Return the number of a source sentence."""
        ids = [self.source_words.index(word) for word in sentence.split()]
        wanted = torch.tensor([*ids, EOS] + [PAD] * (self.source.size(1) - len(ids) - 1))
        return int((self.source == wanted).all(dim=1).nonzero()[0])

    def bleu(self, rows: list[int], written: torch.Tensor, k: int = 2) -> float:
        """Return the mean BLEU of what was written, int64 (N, t), for these rows: the formula of the kata bleu."""
        score = _bleu()
        scores = [score(sentence(written[row]), sentence(self.target[row, 1:]), k) for row in rows]
        return float(sum(scores) / len(scores))


@cache
def read(kata: str) -> Corpus:
    """Read the corpus of a kata: a pair a line, a tab between them, tokens apart; lines with a `#` are left out."""
    path = catalog.find(kata).folder / FILE
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    sources, targets = zip(*(line.split("\t") for line in lines), strict=True)
    source_words, target_words = _words(sources), _words(targets)
    return Corpus(_ids(sources, source_words, []), _ids(targets, target_words, [BOS]), source_words, target_words)


def rates(steps: int, highest: float, warm_up: int = 20) -> torch.Tensor:
    """Return a rate for each step, float64 (steps,): up to the highest one, then down to 0 along a line."""
    done = torch.arange(steps, dtype=torch.float64)
    return highest * torch.minimum((done + 1) / warm_up, 1 - done / steps)


def trained(check: Check, pairs: Corpus, sizes: tuple[int, ...], rate: float) -> Module:
    """Train the answer's model for a corpus with its own loss, as its constructor makes it; returns what has learned.

    ``sizes``: its settings behind the sizes of both vocabularies; ``rate``: the highest one.
    """
    model = check.module(len(pairs.source_words), len(pairs.target_words), *sizes).as_built()
    return model.learn("loss", (pairs.source, pairs.target), pairs.batches(STEPS, BATCH), rates(STEPS, rate))


def _words(sentences: tuple[str, ...]) -> tuple[str, ...]:
    return (*SPECIAL, *sorted({word for sentence in sentences for word in sentence.split()}))


def _ids(sentences: tuple[str, ...], words: tuple[str, ...], begin: list[int]) -> torch.Tensor:
    number = {word: index for index, word in enumerate(words)}
    rows = [[*begin, *(number[word] for word in sentence.split()), EOS] for sentence in sentences]
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


def sentence(ids: torch.Tensor) -> list[int]:
    """Return the ids in front of the end."""
    listed: list[int] = ids.tolist()
    return listed[: listed.index(EOS)] if EOS in listed else listed


@cache
def _bleu() -> Any:
    return runpy.run_path(str(Path(catalog.find("bleu").solution, "reference.py")))["bleu"]
