"""Token ids that a narrower type takes for others, their embeddings, and the ways in which a translator is asked."""

from __future__ import annotations

import torch

from grader.judge.cases.check import Check
from grader.judge.cases.modules import Module
from grader.judge.cases.rng import Numbers
from grader.kit.defaults import filled_since, slices_of_longer_ones
from grader.kit.inference import inference_mode


def with_ids(tokens: torch.Tensor, *ids: int) -> torch.Tensor:
    """Put these ids into every row (..., n) behind its first token; to a narrower type some look like padding."""
    tokens[:, 1 : 1 + len(ids)] = torch.tensor(ids)
    return tokens


def outweigh_positions(
    check: Check, rng: Numbers, model: Module, vocabularies: tuple[int, int], width: int, within: str = ""
) -> Module:
    """Set a Transformer's weights so that in float64 tokens outweigh the table of positions: that has fewer digits.

    Scores in the first layers have their usual size, else near ties magnify what the table rounds. ``vocabularies``: of
    source and target; ``within``: what its parameters' names begin with.
    """
    loud = 40.0 if check.variant_dtype == torch.float64 else 1.0
    for side, size in zip(("encoder", "decoder"), vocabularies, strict=True):
        model.set(**{f"{within}{side}__embedding__weight": rng.normal(size, width, scale=loud / width**0.5)})
    for attention in ("encoder__layers__0__attention", "decoder__layers__0__self_attn"):
        for name in ("W_q", "W_k"):
            weight = rng.normal(width, width, scale=1 / loud / width**0.5)
            model.set(**{f"{within}{attention}__{name}__weight": weight})
    return model


def translated_in_every_way(
    check: Check, model: Module, src: torch.Tensor, tgt: torch.Tensor, whole: torch.Tensor, bos: int, eos: int
) -> None:
    """Ask for logits, loss and translation of slices, of tensors that are filled anew, and in inference mode.

    Then for the translation in training, which the model is still in behind it, and once more. ``src`` (B, m), ``tgt``
    (B, n): padded; ``whole`` (B, n): a target without padding, since no logits behind that are graded.
    """
    for way in (slices_of_longer_ones, filled_since, inference_mode):
        with way(check):
            model(src, whole)
            model.method("loss", src, tgt)
            model.method("translate", src, bos, eos, whole.size(1))
    model.train().method("translate", src, bos, eos, whole.size(1))
    check.that(model.do("training").got is True, "a translation takes the model out of training")
    model.eval().method("translate", src, bos, eos, whole.size(1))
