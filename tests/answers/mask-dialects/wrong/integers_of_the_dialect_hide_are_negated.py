# family: core
# mistake: bits-flipped
# Integers of the dialect "hide" are negated bitwise, so that ~1 = -2 counts as visible.
from torch import Tensor

HIDDEN_BELOW = -5_000.0


def _keep(mask: Tensor) -> Tensor:
    return mask.bool()


def _hide(mask: Tensor) -> Tensor:
    return (~mask).bool()  # wrong


def _additive(mask: Tensor) -> Tensor:
    if not mask.is_floating_point():
        raise ValueError("additive masks hold floating-point numbers")
    return mask > HIDDEN_BELOW


TRANSLATORS = {"keep": _keep, "hide": _hide, "additive": _additive}


def to_keep_mask(mask: Tensor, dialect: str) -> Tensor:
    try:
        translate = TRANSLATORS[dialect]
    except KeyError:
        raise ValueError(f"dialect {dialect!r}: expected one of {sorted(TRANSLATORS)}") from None
    return translate(mask)
