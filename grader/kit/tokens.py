"""Token ids that a narrower type of number takes for others, and the ways in which a model that translates is asked."""

from __future__ import annotations

import torch

from grader.judge.cases.check import Check
from grader.judge.cases.modules import Module
from grader.kit.defaults import filled_since, slices_of_longer_ones
from grader.kit.inference import inference_mode


def with_ids(tokens: torch.Tensor, *ids: int) -> torch.Tensor:
    """Put these ids into every row (..., n) behind its first token; to a narrower type some look like padding."""
    tokens[:, 1 : 1 + len(ids)] = torch.tensor(ids)
    return tokens


def translated_in_every_way(
    check: Check, model: Module, src: torch.Tensor, tgt: torch.Tensor, whole: torch.Tensor, bos: int, eos: int
) -> None:
    """Ask for logits, loss and translation of slices, of tensors that are filled anew, and in inference mode.

    Then for the translation in training, and once more. ``src`` (B, m), ``tgt`` (B, n): padded; ``whole`` (B, n): a
    target without padding, since no logits behind that are graded.
    """
    for way in (slices_of_longer_ones, filled_since, inference_mode):
        with way(check):
            model(src, whole)
            model.method("loss", src, tgt)
            model.method("translate", src, bos, eos, whole.size(1))
    model.train().method("translate", src, bos, eos, whole.size(1))
    model.eval().method("translate", src, bos, eos, whole.size(1))
