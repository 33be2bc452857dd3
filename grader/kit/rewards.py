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
    longest: int,
    attended: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] | None = None,
) -> dict[str, Any]:
    """Return what there is to be seen of a trained model: curve, sentences, their BLEU, and one of them aligned.

    ``losses`` are those of the training by steps; no sentence is given more than ``longest`` tokens. ``attended``
    returns the weights (n, m) between a target of n tokens, behind the first, and a source of m, both int64 (1, ·);
    without it the alignment is what is lost where a word is left out.
    """
    written = got(model.method("translate", pairs.source, corpus.BOS, corpus.EOS, longest))
    rows = _telling(pairs)
    lines = [
        f"{_words(pairs.source[row], pairs.source_words)} → {_words(written[row], pairs.target_words)}" for row in rows
    ]
    scores = pairs.bleu(list(range(len(written))), written)
    aligned = max(rows, key=lambda row: int((pairs.source[row] > corpus.EOS).sum()))
    if attended is None:
        label, alignment = (
            _("how much less probable a word (row) is without a word (column)"),
            _needs(model, pairs, aligned),
        )
    else:
        label, alignment = (
            _("weights of each word (row) over the words that were read"),
            _reads(attended, pairs, aligned),
        )
    return {
        _("loss by steps"): Curve(list(losses), list(losses.values())),
        _("BLEU {score:.3f} of {count} sentences, among them").format(score=scores, count=len(written)): Lines(lines),
        label: alignment,
    }


def _telling(pairs: Corpus) -> list[int]:
    """Return the rows of a few sentences, from short to long."""
    order = (pairs.source > corpus.EOS).sum(dim=1).sort(stable=True).indices.tolist()
    return [order[at * (len(order) - 1) // (MOST_TRANSLATED - 1)] for at in range(MOST_TRANSLATED)]


def _words(ids: torch.Tensor, words: tuple[str, ...]) -> str:
    listed = ids.tolist()
    listed = listed[: listed.index(corpus.EOS)] if corpus.EOS in listed else listed
    return " ".join(words[one] for one in listed if one != corpus.PAD)


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
    given = source[source > corpus.EOS]
    wanted = target[target != corpus.PAD]
    shorter = torch.full((len(given) + 1, len(given) + 1), corpus.PAD)
    shorter[0] = torch.cat([given, torch.tensor([corpus.EOS])])
    for left_out in range(len(given)):
        shorter[left_out + 1, :-1] = torch.cat([given[:left_out], given[left_out + 1 :], torch.tensor([corpus.EOS])])
    logits = got(model(shorter, wanted[:-1].expand(len(shorter), -1).contiguous()))
    surprise = -torch.log_softmax(logits.double(), dim=-1)[:, torch.arange(len(wanted) - 1), wanted[1:]]
    names = [pairs.target_words[one] for one in wanted[1:].tolist()]
    return (surprise[1:] - surprise[0]).clamp(min=0).T, names, [pairs.source_words[one] for one in given.tolist()]
