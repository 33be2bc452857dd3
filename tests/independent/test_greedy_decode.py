"""greedy-decode agrees with a plain Python walk along the most probable tokens of a recurrent network."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from tests.references import reference


class Model(nn.Module):
    """A small language model: embedding, GRU, logits of what follows the last token."""

    def __init__(self, vocab: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, 8)
        self.rnn = nn.GRU(8, 12, batch_first=True)
        self.dense = nn.Linear(12, vocab)
        self.double()

    @torch.no_grad()
    def forward(self, tokens: Tensor) -> Tensor:
        """(B, t) to (B, vocab)."""
        outputs, _ = self.rnn(3 * self.embedding(tokens))
        return 3 * self.dense(outputs[:, -1])


def best_first(model: Model, bos: int, eos: int, max_len: int) -> list[int]:
    """Multiply probabilities in Python floats, and of the whole vocabulary keep the first of the best."""
    path = [bos]
    while len(path) == 1 or (path[-1] != eos and len(path) <= max_len):
        row = model(torch.tensor([path])).tolist()[0]
        total = math.fsum(math.exp(logit) for logit in row)
        probabilities = [math.exp(logit) / total for logit in row]
        path.append(min(range(len(row)), key=lambda token: (-probabilities[token], token)))
    return path[1:]


@pytest.mark.parametrize("vocab", [2, 5, 11])
@pytest.mark.parametrize("seed", range(6))
def test_greedy_decode(vocab: int, seed: int) -> None:
    """The same tokens for every pair of bos and eos, and for short and long sequences."""
    torch.manual_seed(seed)
    model = Model(vocab)
    for bos, eos, max_len in [(0, 1, 1), (1, 0, 4), (vocab - 1, vocab - 1, 7), (0, vocab - 1, 20)]:
        got = reference("greedy-decode").greedy_decode(model, bos, eos, max_len)
        assert got == best_first(model, bos, eos, max_len)


def test_equal_logits() -> None:
    """A model that knows nothing writes the lowest id until the end."""
    decode = reference("greedy-decode").greedy_decode
    assert decode(lambda tokens: torch.zeros(len(tokens), 9), 4, 3, 5) == [0] * 5
    assert decode(lambda tokens: torch.zeros(len(tokens), 9), 4, 0, 5) == [0]
