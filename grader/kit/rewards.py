"""What a translator is worth once it is trained: its loss curve, some translations, their BLEU, and an alignment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch

from grader.judge.exchange.arguments import got
from grader.kit import corpus
from grader.kit.corpus import Corpus
from grader.kit.drawings import Curve, Lines
from grader.language import _

MOST_TRANSLATED: Final = 5


def rewards(
    model: Any,
    pairs: Corpus,
    losses: dict[int, float],
    attended: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] | None = None,
) -> dict[str, Any]:
    """Return what there is to be seen of a trained model: curve, sentences, their BLEU, and one of them aligned.

    ``losses`` are those of the training by steps. ``attended`` returns the weights (n, m) between a target of n tokens,
    behind the first, and a source of m, both int64 (1, ·); without it the alignment is what is lost where a word is
    left out.
    """
    written = got(model.method("translate", pairs.source, corpus.BOS, corpus.EOS, corpus.LONGEST))
    rows = _telling(pairs)
    lines = [
        f"{_words(pairs.source[row], pairs.source_words)} → {_words(written[row], pairs.target_words)}" for row in rows
    ]
    scores = pairs.bleu(list(range(len(written))), written)
    aligned = max(rows, key=lambda row: int((pairs.source[row] > corpus.EOS).sum()))
    found: dict[str, Any] = {
        _("loss by steps"): Curve(list(losses), list(losses.values())),
        _("BLEU {score:.3f} of {count} sentences, among them").format(score=scores, count=len(written)): Lines(lines),
    }
    if attended is None:
        found[_("how much less probable a word (row) is without a word (column)")] = _needs(model, pairs, aligned)
    else:
        found[_("weights of each word (row) over the words that were read")] = _reads(attended, pairs, aligned)
    return found


def _telling(pairs: Corpus) -> list[int]:
    """Return the rows of a few sentences, from short to long."""
    order = (pairs.source > corpus.EOS).sum(dim=1).sort(stable=True).indices.tolist()
    return [order[at * (len(order) - 1) // (MOST_TRANSLATED - 1)] for at in range(MOST_TRANSLATED)]


def _words(ids: torch.Tensor, words: tuple[str, ...]) -> str:
    return " ".join(words[one] for one in corpus.sentence(ids) if one != corpus.PAD)


def _reads(
    attended: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], pairs: Corpus, row: int
) -> tuple[torch.Tensor, list[str], list[str]]:
    """Return how the words of a translation attend to those of its source."""
    source, target = (ids[ids != corpus.PAD] for ids in (pairs.source[row], pairs.target[row]))
    rows, columns = [pairs.target_words[one] for one in target[1:]], [pairs.source_words[one] for one in source]
    return attended(source[None], target[None]), rows, columns


def _needs(model: Any, pairs: Corpus, row: int) -> tuple[torch.Tensor, list[str], list[str]]:
    """Return how many nats each word of a translation loses where one word of its source is left out.

    An alignment that asks no model for its attention: Li et al. 2016, "Understanding Neural Networks through
    Representation Erasure" (arXiv:1612.08220).
    """
    source, target = pairs.source[row], pairs.target[row]
    given, wanted = corpus.sentence(source), target[target != corpus.PAD]
    without = ([*given[:at], *given[at + 1 :], corpus.EOS, corpus.PAD] for at in range(len(given)))
    sources = torch.tensor([[*given, corpus.EOS], *without])
    logits = got(model(sources, wanted[:-1].expand(len(sources), -1).contiguous()))
    surprise = -torch.log_softmax(logits.double(), dim=-1)[:, torch.arange(len(wanted) - 1), wanted[1:]]
    names = [pairs.target_words[one] for one in wanted[1:].tolist()]
    return (surprise[1:] - surprise[0]).clamp(min=0).T, names, [pairs.source_words[one] for one in given]
