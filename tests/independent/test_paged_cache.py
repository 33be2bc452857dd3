"""The reference of paged-cache against sequences that are kept whole, and blocks that are counted afterwards."""

from __future__ import annotations

import random

import pytest
import torch

from tests.references import reference

N_BLOCKS, BLOCK, HEADS, WIDTH = 9, 3, 2, 4

Tokens = list[torch.Tensor]


def blocks_held(sequences: dict[int, tuple[Tokens, list[object]]]) -> int:
    """Count blocks: every sequence names its blocks by objects that forks have in common."""
    return len({id(block) for _, blocks in sequences.values() for block in blocks})


def appended(blocks: list[object], others: list[list[object]], before: int, after: int) -> list[object]:
    """Return the blocks of a sequence after an append: a shared one that is not full is one of its own now."""
    blocks = list(blocks)
    if before % BLOCK and any(blocks[-1] is block for other in others for block in other):
        blocks[-1] = object()
    return blocks + [object() for _ in range(-(-after // BLOCK) - len(blocks))]


@pytest.mark.parametrize("seed", range(12))
def test_any_life_of_a_cache(seed: int) -> None:
    """Random appends, forks and frees: tokens, numbers and free blocks are those of lists that share nothing."""
    draw = random.Random(seed)
    cache = reference("paged-cache").PagedKVCache(N_BLOCKS, BLOCK, HEADS, WIDTH)
    sequences: dict[int, tuple[Tokens, list[object]]] = {}
    made = refused = 0
    for _ in range(150):
        kind = draw.choice(["new", "append", "append", "append", "fork", "free"])
        seq = draw.choice(list(sequences)) if sequences else None
        if kind == "new" or seq is None:
            assert cache.new() == made
            sequences[made] = ([], [])
            made += 1
        elif kind == "fork":
            assert cache.fork(seq) == made
            sequences[made] = (list(sequences[seq][0]), list(sequences[seq][1]))
            made += 1
        elif kind == "free":
            cache.free(seq)
            del sequences[seq]
            with pytest.raises(ValueError, match="no sequence"):
                cache.gather(seq)
        else:
            tokens, blocks = sequences[seq]
            new = [torch.randn(HEADS, WIDTH) for _ in range(draw.randint(1, 5))]
            others = [held for other, (_, held) in sequences.items() if other != seq]
            after = appended(blocks, others, len(tokens), len(tokens) + len(new))
            x = torch.stack(new, dim=1)
            rest = {other: value for other, value in sequences.items() if other != seq}
            if blocks_held(rest | {seq: (tokens, after)}) > N_BLOCKS:
                refused += 1
                with pytest.raises(ValueError, match="are needed"):
                    cache.append(seq, x, -x)
            else:
                cache.append(seq, x, -x)
                sequences[seq] = (tokens + new, after)
        assert cache.n_free == N_BLOCKS - blocks_held(sequences)
        for number, (tokens, _) in sequences.items():
            want = torch.stack(tokens, dim=1) if tokens else torch.zeros(HEADS, 0, WIDTH)
            k, v = cache.gather(number)
            assert torch.equal(k, want)
            assert torch.equal(v, -want)
    assert refused
