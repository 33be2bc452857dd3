"""Computing with other roundings: what each operator returns is off by its last digit, up or down.

Monte Carlo arithmetic, an operator at a time: D. Stott Parker, *Monte Carlo Arithmetic: exploiting randomness in
floating-point arithmetic*, UCLA CSD-970002, 1997; J. Vignes, *A stochastic arithmetic for reliable scientific
computation*, 1993. Operators that move numbers and do not round them are left alone.
"""

# torch has functions without annotations:
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from itertools import count
from typing import Any, Final

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_PATTERN: Final = 1 << 16
"""So many signs are drawn; larger tensors get them again and again."""
_STARTS: Final = 1 << 12

EXACT: Final = frozenset(
    (
        *("_unsafe_index", "_unsafe_masked_index", "_unsafe_view", "abs", "amax", "amin", "aminmax", "arange"),
        *("bernoulli", "cat", "ceil", "clamp", "clamp_max", "clamp_min", "clone", "constant_pad_nd", "cummax"),
        *("cummin", "diag_embed", "embedding", "empty", "empty_like", "empty_strided", "exponential", "eye", "fill"),
        *("flip", "floor", "full", "full_like", "gather", "hardtanh", "heaviside", "index", "index_copy"),
        *("index_fill", "index_put", "index_select", "kthvalue", "masked_fill", "masked_scatter", "masked_select"),
        *("max", "maximum", "median", "min", "minimum", "mode", "nan_to_num", "neg", "new_empty"),
        *("new_empty_strided", "new_full", "new_ones", "new_zeros", "normal", "ones", "ones_like", "put", "rand"),
        *("rand_like", "randn", "randn_like", "random", "relu", "repeat", "resize", "roll", "rot90", "round"),
        *("scalar_tensor", "scatter", "select_backward", "select_scatter", "sgn", "sign", "slice_backward"),
        *("slice_scatter", "sort", "stack", "take", "threshold", "threshold_backward", "topk", "tril", "triu"),
        *("trunc", "unfold_backward", "uniform", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "where"),
        *("zero", "zeros", "zeros_like"),
    )
)
"""Operators whose results hold their inputs' numbers, whole ones, or what was drawn."""

_CONVERT: Final = frozenset(("copy", "_to_copy"))
"""These round where the result has fewer digits."""


COARSE: Final = 1024
"""A table that is float32 by contract may be computed in float32, and at position 700 an angle has lost three digits:
what has fewer digits than the run is off by so many times its last one."""


def otherwise(draw: int, dtype: torch.dtype) -> AbstractContextManager[Any]:
    """Inside, each floating-point number that an operator computes is off by its last digit.

    ``draw``: which numbers go up, which down, the same in each process; ``dtype``: in which the run computes.
    """
    return _Operators(draw, dtype)


def shake(tensor: torch.Tensor, draw: int, dtype: torch.dtype, at: int) -> None:
    """Put each of the numbers of a tensor off by its last digit; zeros and infinities are not.

    ``draw`` and ``dtype`` as in :func:`otherwise`; ``at``: how many tensors come before it.
    """
    signs, starts = _drawn(draw)
    start, size = starts[at % _STARTS], tensor.numel()
    if start + size > len(signs):
        signs = signs.repeat(-(-(start + size) // len(signs)))
    own, digit = torch.finfo(tensor.dtype).eps, torch.finfo(dtype).eps
    digit = own * COARSE if own > digit else digit
    tensor.mul_(signs[start : start + size].view(tensor.shape).to(tensor.dtype).mul(digit).add_(1.0))


class _Operators(TorchDispatchMode):
    """Shakes what operators compute, one after the other."""

    def __init__(self, draw: int, dtype: torch.dtype) -> None:
        super().__init__()
        self._draw, self._dtype = draw, dtype
        self._at = count()
        _drawn(draw)  # inside, drawing would be shaken as well, and count: the first measure would be unlike the others

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # else the first operator imports PyTorch's compiler, which takes seconds
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        result = func(*args, **(kwargs or {}))
        name = _rounds(func)
        if name and not (name in _CONVERT and _keeps_digits(result, args)):
            for tensor in result if isinstance(result, (tuple, list)) else (result,):
                if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
                    shake(tensor, self._draw, self._dtype, next(self._at))
        return result


@cache
def _rounds(func: Any) -> str:
    """Return the name of an operator that computes, "" of one whose results are its inputs' numbers."""
    name: str = func.overloadpacket.__name__
    is_view = any(r.alias_info is not None and not r.alias_info.is_write for r in func._schema.returns)  # noqa: SLF001
    name = name.removesuffix("_") if not name.startswith("__") else name
    return "" if is_view or name in EXACT else name


def _keeps_digits(result: Any, args: Any) -> bool:
    """Whether nothing is lost in a conversion; what becomes an integer is a decision, which nobody nudges."""
    if not result.dtype.is_floating_point:
        return True
    given = [arg.dtype for arg in args if isinstance(arg, torch.Tensor)]
    floats = [torch.finfo(dtype).eps for dtype in given if dtype.is_floating_point]
    return not floats or torch.finfo(result.dtype).eps <= min(floats)


@cache
def _drawn(draw: int) -> tuple[torch.Tensor, list[int]]:
    """Return signs, and where among them each operator begins."""
    generator = torch.Generator().manual_seed(draw)
    signs = torch.randint(0, 2, (_PATTERN,), generator=generator, dtype=torch.float64) * 2 - 1
    return signs, torch.randint(0, _PATTERN, (_STARTS,), generator=generator).tolist()
