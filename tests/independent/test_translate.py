"""translate and translate-rnn against PyTorch's cross entropy, packed sequences, and decoding without a cache."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from grader import catalog
from tests.references import agree, reference

SIZES = {"translate": (11, 13, 16, 4, 24, 2), "translate-rnn": (11, 13, 6, 10, 2)}
EARLIER = {"translate": ("transformer", "class Transformer("), "translate-rnn": ("bahdanau-decoder", "class Seq2Seq")}
SRC = torch.tensor([[3, 7, 5, 2, 0], [9, 2, 0, 0, 0], [4, 4, 8, 6, 2]])
TGT = torch.tensor([[1, 5, 12, 2], [1, 2, 0, 0], [1, 7, 2, 0]])
BOS, NEVER, LENGTH = 1, 13, 7


@pytest.fixture(params=SIZES)
def translator(request: pytest.FixtureRequest) -> nn.Module:
    """Return a model of either kind, with weights large enough to tell sources apart."""
    torch.default_generator.manual_seed(3)
    model = reference(request.param).Translator(*SIZES[request.param]).double()
    for parameter in model.parameters():
        parameter.data *= 2
    return model


def test_loss(translator: nn.Module) -> None:
    """It is PyTorch's cross entropy, which leaves an index out."""
    logits = translator(SRC, TGT[:, :-1])
    agree(translator.loss(SRC, TGT), F.cross_entropy(logits.flatten(0, 1), TGT[:, 1:].flatten(), ignore_index=0))


@pytest.mark.parametrize("eos", [NEVER, *range(13)])
def test_translation(translator: nn.Module, eos: int) -> None:
    """Row by row, from the logits of whole prefixes, with whatever token as the end."""
    rows = []
    for source in SRC:
        ids = [BOS]
        while len(ids) <= LENGTH and (len(ids) == 1 or ids[-1] != eos):
            ids.append(int(translator(source[None], torch.tensor([ids]))[0, -1].argmax()))
        rows.append(ids[1:])
    longest = max(map(len, rows))
    want = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    agree(translator.translate(SRC, BOS, eos, LENGTH), want)


def test_recurrent_encoder() -> None:
    """Hidden states and real outputs are those of a GRU that is given a packed sequence."""
    model = reference("translate-rnn").Translator(*SIZES["translate-rnn"]).double()
    outputs, hidden = model.encoder(SRC)
    lengths = (SRC != 0).sum(1)
    embedded = model.encoder.embedding(SRC)
    packed = nn.utils.rnn.pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
    wanted, last = model.encoder.rnn(packed)
    padded, _ = nn.utils.rnn.pad_packed_sequence(wanted, batch_first=True)
    agree(hidden, last)
    real = (SRC != 0).unsqueeze(-1)
    agree(outputs.masked_fill(~real, 0.0), padded.masked_fill(~real, 0.0))


@pytest.mark.parametrize("kata", SIZES)
def test_earlier_answers_stand_in_it_word_for_word(kata: str) -> None:
    """What a learner brings along is what the earlier kata shows in the end."""
    earlier, begins = EARLIER[kata]
    text = Path(catalog.find(earlier).solution, "reference.py").read_text(encoding="utf-8")
    assert text[text.index(begins) :].rstrip() in catalog.find(kata).reference()
