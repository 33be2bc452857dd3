"""The reference of mask-dialects agrees with what PyTorch's own attention makes of a mask, and with plain loops."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import reference

FLOATS = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


def translated(mask: Tensor, dialect: str) -> Tensor:
    """Translate with the reference."""
    result = reference("mask-dialects").to_keep_mask(mask, dialect)
    assert (result.dtype, result.shape) == (torch.bool, mask.shape)
    return result


@pytest.fixture
def mask() -> Tensor:
    """Draw a mask with something visible in each row."""
    torch.manual_seed(7)
    mask = torch.rand(4, 5) < 0.5
    mask[:, -1] |= ~mask.any(-1)
    return mask


def test_keep_and_additive(mask: Tensor) -> None:
    """`F.scaled_dot_product_attention` takes both: the weights vanish where the translation says so."""
    queries, keys = torch.randn(4, 3, dtype=torch.float64), torch.randn(5, 3, dtype=torch.float64)
    units = torch.eye(5, dtype=torch.float64)
    numbers = torch.zeros(4, 5, dtype=torch.float64).masked_fill(~mask, -1e9)
    for given, dialect in ((mask, "keep"), (numbers, "additive")):
        weights = F.scaled_dot_product_attention(queries, keys, units, given)
        assert torch.equal(translated(given, dialect), weights > 0)


def test_hide(mask: Tensor) -> None:
    """`nn.MultiheadAttention` takes it as a padding mask."""
    attention = nn.MultiheadAttention(3, 1, batch_first=True, dtype=torch.float64)
    x = torch.randn(4, 5, 3, dtype=torch.float64)
    _, weights = attention(x, x, x, key_padding_mask=mask.logical_not())
    assert torch.equal(translated(mask.logical_not(), "hide"), weights[:, 0] > 0)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int8, torch.int32, torch.int64])
def test_truth_values(mask: Tensor, dtype: torch.dtype) -> None:
    """Number by number, and refused as additive."""
    kept, hidden = translated(mask.to(dtype), "keep"), translated(mask.to(dtype), "hide")
    for i, j in itertools.product(range(4), range(5)):
        assert kept[i, j].item() is mask[i, j].item() is (not hidden[i, j].item())
    with pytest.raises(ValueError, match="additive"):
        translated(mask.to(dtype), "additive")


@pytest.mark.parametrize("dtype", FLOATS)
def test_numbers(dtype: torch.dtype) -> None:
    """A list of what people write."""
    numbers = [0.0, -0.0, float("-inf"), torch.finfo(dtype).min, -1e4, -65504.0, -1e9]
    expected = [True, True, False, False, False, False, False]
    assert translated(torch.tensor(numbers, dtype=torch.float64).to(dtype), "additive").tolist() == expected


def test_unknown_dialects(mask: Tensor) -> None:
    """There are three."""
    for given in (mask, mask.long(), mask.double()):
        with pytest.raises(ValueError, match="unknown dialect"):
            translated(given, "show")
