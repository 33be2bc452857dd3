"""The reference of static-cache against lists of tokens, joined anew at each step."""

from __future__ import annotations

import pytest
import torch

from tests.references import reference


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("chunks", [[7], [1] * 7, [4, 1, 2], [3, 3]])
def test_static_cache(chunks: list[int], dtype: torch.dtype) -> None:
    """Every prefix is the concatenation of what was stored, bit for bit, before and after a reset."""
    cache = reference("static-cache").StaticKVCache(2, 3, 7, 4, dtype=dtype, device="cpu")
    for _ in range(2):
        stored: tuple[list[torch.Tensor], list[torch.Tensor]] = ([], [])
        for n in chunks:
            new = [torch.randn(2, 3, n, 4, dtype=torch.float64).to(dtype) for _ in range(2)]
            for tokens, tensor in zip(stored, new, strict=True):
                tokens.extend(tensor.unbind(2))
            for got, tokens in zip(cache.update(*new), stored, strict=True):
                assert got.dtype == dtype
                assert torch.equal(got, torch.stack(tokens, dim=2))
            assert cache.length == len(stored[0])
        cache.reset()
        assert cache.length == 0


def test_too_many_tokens_change_nothing() -> None:
    """After a refusal the cache goes on as if nothing had been asked of it."""
    cache = reference("static-cache").StaticKVCache(1, 2, 4, 3)
    first, rest = torch.randn(1, 2, 3, 3), torch.randn(1, 2, 1, 3)
    cache.update(first, -first)
    with pytest.raises(ValueError, match="do not fit"):
        cache.update(torch.randn(1, 2, 2, 3), torch.randn(1, 2, 2, 3))
    keys, values = cache.update(rest, -rest)
    assert cache.length == 4
    assert torch.equal(keys, torch.cat([first, rest], dim=2))
    assert torch.equal(values, -keys)
