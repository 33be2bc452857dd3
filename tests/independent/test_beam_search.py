"""beam-search agrees with an exhaustive search where its beam holds everything, and with a search over dicts."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor

from tests.references import reference

TOLERANCE = 1e-10


class Model:
    """A model whose logits are drawn anew for each prefix, and remembered."""

    def __init__(self, vocab: int, seed: int) -> None:
        self.vocab, self.seed = vocab, seed

    def row(self, prefix: list[int]) -> list[float]:
        """Draw the logits of what follows a prefix."""
        number = sum((self.vocab + 1) ** i * (token + 1) for i, token in enumerate(prefix))
        generator = torch.Generator().manual_seed(1000 * self.seed + number)
        return torch.randn(self.vocab, generator=generator, dtype=torch.float64).tolist()

    def __call__(self, tokens: Tensor) -> Tensor:
        """Give the logits of a batch."""
        return torch.tensor([self.row(prefix) for prefix in tokens.tolist()], dtype=torch.float64)

    def probabilities(self, prefix: list[int]) -> list[float]:
        """Softmax by hand."""
        powers = [math.exp(logit) for logit in self.row(prefix)]
        return [power / math.fsum(powers) for power in powers]

    def probability(self, bos: int, tokens: tuple[int, ...]) -> float:
        """Multiply the probabilities of the tokens."""
        return math.prod(self.probabilities([bos, *tokens[:i]])[token] for i, token in enumerate(tokens))


def agree(got: tuple[list[int], float], tokens: tuple[int, ...], probability: float) -> None:
    """Compare a result with tokens and their probability."""
    assert got[0] == list(tokens)
    assert abs(got[1] - math.log(probability)) <= TOLERANCE


def sequences(vocab: int, eos: int, max_len: int) -> list[tuple[int, ...]]:
    """List everything that can be written."""
    found = []
    for length in range(1, max_len + 1):
        written = itertools.product(range(vocab), repeat=length)
        found += [w for w in written if eos not in w[:-1] and (w[-1] == eos or length == max_len)]
    return found


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("bos", "eos"), [(0, 1), (2, 2), (1, 0)])
def test_a_beam_that_holds_everything(seed: int, bos: int, eos: int) -> None:
    """The most probable of all sequences, found by trying each."""
    model = Model(3, seed)
    want = max(sequences(3, eos, 4), key=lambda tokens: model.probability(bos, tokens))
    got = reference("beam-search").beam_search(model, bos, eos, 200, 4)
    agree(got, want, model.probability(bos, want))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("beam", [1, 2, 3, 5])
def test_a_narrow_beam(seed: int, beam: int) -> None:
    """Probabilities in a dict from sequences, thinned out after each length."""
    model, bos, eos = Model(5, seed), 3, 1
    kept: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(6):
        grown: dict[tuple[int, ...], float] = {}
        for tokens, probability in kept.items():
            if tokens and tokens[-1] == eos:
                grown[tokens] = probability
            else:
                row = model.probabilities([bos, *tokens])
                grown |= {(*tokens, token): probability * row[token] for token in range(5)}
        best = sorted(grown.values())[-beam:]
        kept = {tokens: probability for tokens, probability in grown.items() if probability >= best[0]}
    want = max(kept, key=kept.__getitem__)
    agree(reference("beam-search").beam_search(model, bos, eos, beam, 6), want, kept[want])
