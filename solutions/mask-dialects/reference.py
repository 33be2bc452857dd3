"""Masks of three dialects, translated into one: True = this key may be attended to.

    visible = keep = not hide,    softmax(scores + bias) with bias = 0 where visible, -inf where hidden

"keep" is what scaled_dot_product_attention takes, "hide" is the key_padding_mask of nn.MultiheadAttention, "additive"
the mask of Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.3, and of BERT (Devlin et al. 2018, arXiv:1810.04805),
whose code writes -10000 for minus infinity.
"""

from torch import Tensor

DIALECTS = ("keep", "hide", "additive")
LOWEST_BIAS = -1e3  # what is added to favour near keys stays far above this, what is added to hide lies far below


def to_keep_mask(mask: Tensor, dialect: str) -> Tensor:
    """Translate a mask of any shape into a bool mask of that shape, True = this key may be attended to.

    dialect "keep"      bool or 0/1 integers, true = visible
            "hide"      bool or 0/1 integers, true = hidden
            "additive"  floating point, to be added to the scores: 0 = visible, very negative or -inf = hidden

    Raises ValueError for an unknown dialect, and for bools or integers in the dialect "additive".
    """
    if dialect not in DIALECTS:
        raise ValueError(f"unknown dialect {dialect!r}, expected one of {', '.join(DIALECTS)}")
    if mask.is_floating_point() != (dialect == "additive"):
        raise ValueError(f"a mask of {mask.dtype} cannot be in the dialect {dialect!r}")
    if dialect == "additive":
        return mask > LOWEST_BIAS
    if dialect == "hide":
        return mask == 0
    return mask != 0
