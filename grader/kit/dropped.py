"""What cases look at where dropout has acted on the sublayers of a block of width 16, with two heads.

Two features stand at +spread/2 and -spread/2 when a norm meets them, so its scale is known and can be undone.
"""

from __future__ import annotations

from typing import Any, Final

import torch

from grader.judge.cases.check import Check
from grader.judge.cases.modules import Module
from grader.kit.inference import inference_mode

WIDTH: Final = 16


def silence(block: Module, d_model: int, *layers: str) -> None:
    """Let these linear layers return 0."""
    for layer in layers:
        fan_in = 4 if layer.endswith("ffn__dense2") else d_model
        block.set(**{f"{layer}__weight": torch.zeros(d_model, fan_in), f"{layer}__bias": torch.zeros(d_model)})


def two_features(batch: int, length: int) -> tuple[torch.Tensor, float]:
    """Make tokens of which only the first two features are not 0; how far apart these are behind a norm."""
    x = torch.zeros(batch, length, WIDTH, dtype=torch.float64)
    x[..., 0], x[..., 1] = 10.0, -10.0
    normed = torch.nn.functional.layer_norm(x[0, 0], (WIDTH,))
    return x, float(normed[0] - normed[1])


def equal_weights(block: Module, attention: str) -> None:
    """Give an attention equal weights, values of 1, and a W_o that leaves the first two features alone."""
    zero, chosen = torch.zeros(WIDTH, dtype=torch.float64), torch.eye(WIDTH, dtype=torch.float64)
    chosen[:2] = 0.0
    nothing = torch.zeros(WIDTH, WIDTH, dtype=torch.float64)
    block.set(**{f"{attention}__W_q__weight": nothing, f"{attention}__W_q__bias": zero})
    block.set(**{f"{attention}__W_v__weight": nothing, f"{attention}__W_v__bias": zero + 1.0})
    block.set(**{f"{attention}__W_o__weight": chosen, f"{attention}__W_o__bias": zero})


def ones_behind(block: Module, layer: str) -> None:
    """Let a sublayer whose last layer is silent return 1 in all but the first two features."""
    ones = torch.ones(WIDTH, dtype=torch.float64)
    ones[:2] = 0.0
    block.set(**{f"{layer}__bias": ones})


def two_sums(check: Check, block: Module, spread: float, x: torch.Tensor, *others: Any) -> list[torch.Tensor]:
    """Call a block twice in training and undo its norms: the sums but for their first two features, of both calls."""
    with inference_mode(check):  # where nobody differentiates, a module in training drops as well
        first = block.train().run(x, *others)
        check.roll()
        second = block.run(x, *others)
    return [_before_the_norms(check, result.got, x.shape, spread) for result in (first, second)]


def _before_the_norms(check: Check, got: Any, shape: torch.Size, spread: float) -> torch.Tensor:
    output = got[0] if isinstance(got, tuple) and got else got
    fits = isinstance(output, torch.Tensor) and output.shape == shape
    check.that(fits, "in training the output is not a tensor of the shape of x")
    output = output.double() if fits else torch.zeros(shape, dtype=torch.float64)
    scale = (output[..., :1] - output[..., 1:2]) / spread
    return (output[..., 2:] - output[..., :1]) / scale + spread / 2


def check_lattice(check: Check, both_sums: list[torch.Tensor], keys: torch.Tensor) -> None:
    """Equal weights for `keys` (n,) keys at dropout 0.5, values of 1: 2k/keys for k weights kept, twice that if kept.

    Features 0 to 5 and 8 to 13 of the sums are all of one head each.
    """
    heads, again = (keys[:, None] / 4 * torch.stack([s[..., 0:6], s[..., 8:14]]) for s in both_sums)  # (2, B, n, 6)
    kept, counts = heads > 0.2, heads.amax(-1)  # (2, B, n, 6), (2, B, n)
    seen = kept.any(-1)
    mixed = seen & ~kept.all(-1)
    left_whole = not mixed.any() and seen.float().mean() > 0.75
    check.that(not left_whole, "the output of the sublayer is not dropped out before the sum")
    halves = 2 * heads  # keys / 2 where no weight is dropped
    check.that((halves - halves.round()).abs().max() < 0.1, "sums are none that dropout 0.5 can give")
    check.that(mixed.float().mean() > 0.5, "features of a token are dropped together instead of one by one")
    alike = ((heads - counts[..., None]).abs() < 0.1)[kept].all()
    check.that(alike, "features of one head see different attention weights")
    whole = ((counts - keys / 2).abs() < 0.1)[seen].all()
    check.that(not whole, "the attention weights are not dropped out")
    check.that((counts - counts.round()).abs().max() < 0.1, "sums are none that dropout 0.5 can give")
    check.that(_spread(counts, seen, 1) > 0.5, "all batch rows lose the same attention weights")
    check.that(_spread(counts, seen, 2) > 1.5, "all queries lose the same attention weights")
    check.that(_spread(counts, seen, 0) > 0.5, "both heads lose the same attention weights")
    check.that(not _shared(kept, 1), "all batch rows lose the same features")
    check.that(not _shared(kept, 2), "all tokens lose the same features")
    calls = torch.stack([kept, again > 0.2])
    check.that(not _shared(calls, 0), "two calls in training drop the same features")
    apart = _spread(torch.stack([counts, again.amax(-1)]), calls.any(-1), 0)
    check.that(apart > 0.5, "two calls in training drop the same attention weights")


def check_features(check: Check, sums: torch.Tensor, again: torch.Tensor) -> None:
    """Look at sums of a sublayer that returned 1 at dropout 0.5, of two calls: 0 or 2, feature by feature."""
    whole = ((sums - 1.0).abs() < 0.05).all()
    check.that(not whole, "the output of the sublayer is not dropped out before the sum")
    dropped, doubled = sums.abs() < 0.05, (sums - 2.0).abs() < 0.05
    check.that((dropped | doubled).all(), "a feature is neither dropped nor doubled at dropout 0.5")
    mixed = dropped.any(-1) & doubled.any(-1)
    check.that(mixed.float().mean() > 0.8, "features of a token are dropped together instead of one by one")
    check.that((doubled != doubled[:1]).any(), "all batch rows lose the same features")
    check.that((doubled != doubled[:, :1]).any(), "all tokens lose the same features")
    check.that((doubled != (again > 1.0)).any(), "two calls in training drop the same features")


def _shared(kept: torch.Tensor, axis: int) -> bool:
    """Whether all along an axis keep the same features (the last axis), as far as anything is left of them."""
    return bool(((kept == kept.any(axis, keepdim=True)) | ~kept.any(-1, keepdim=True)).all())


def _spread(counts: torch.Tensor, seen: torch.Tensor, axis: int) -> torch.Tensor:
    """Return how far counts that are seen lie apart along an axis, at most."""
    return (counts.masked_fill(~seen, -99.0).amax(axis) - counts.masked_fill(~seen, 99.0).amin(axis)).max()
