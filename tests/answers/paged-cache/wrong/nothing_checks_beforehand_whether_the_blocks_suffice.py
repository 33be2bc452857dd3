# family: contract
# mistake: blocks-lost-to-an-error
# Nothing checks beforehand whether the blocks suffice, so a failed append keeps the blocks that it took.
from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass
class Entry:
    blocks: list[int] = field(default_factory=list)
    length: int = 0


class PagedKVCache:
    def __init__(
        self,
        n_blocks: int,
        block_size: int,
        n_heads: int,
        d_head: int,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        with torch.inference_mode(False):
            # keys at 0, values at 1
            self.memory = torch.empty(2, n_blocks, n_heads, block_size, d_head, dtype=dtype, device=device)
        self.block_size = block_size
        self.refs = [0] * n_blocks
        self.entries: dict[int, Entry] = {}
        self.count = 0

    @property
    def n_free(self) -> int:
        return self.refs.count(0)

    def entry(self, seq: int) -> Entry:
        if seq not in self.entries:
            raise ValueError(f"sequence {seq} does not exist")
        return self.entries[seq]

    def allocate(self) -> int:
        for block, refs in enumerate(self.refs):
            if refs == 0:
                self.refs[block] = 1
                return block
        raise ValueError("no free block is left")

    def add(self, entry: Entry) -> int:
        seq, self.count = self.count, self.count + 1
        self.entries[seq] = entry
        return seq

    def new(self) -> int:
        return self.add(Entry())

    def append(self, seq: int, k: Tensor, v: Tensor) -> None:
        entry = self.entry(seq)
        n = k.shape[1]
        blocks = list(entry.blocks)
        filled = entry.length % self.block_size
        shared = filled > 0 and self.refs[blocks[-1]] > 1
        missing = -(-(entry.length + n) // self.block_size) - len(blocks)
        if shared:
            copy = self.allocate()
            self.memory[:, copy, :, :filled] = self.memory[:, blocks[-1], :, :filled]
            self.refs[blocks[-1]] -= 1
            blocks[-1] = copy
        blocks += [self.allocate() for _ in range(missing)]  # wrong
        entry.blocks = blocks
        at = 0
        while at < n:
            index, place = divmod(entry.length, self.block_size)
            step = min(n - at, self.block_size - place)
            self.memory[0, blocks[index], :, place : place + step] = k.detach()[:, at : at + step]
            self.memory[1, blocks[index], :, place : place + step] = v.detach()[:, at : at + step]
            entry.length += step
            at += step

    def gather(self, seq: int) -> tuple[Tensor, Tensor]:
        entry = self.entry(seq)
        ids = torch.tensor(entry.blocks, dtype=torch.long, device=self.memory.device)
        picked = self.memory[:, ids].transpose(1, 2).flatten(2, 3)[:, :, : entry.length]
        return picked[0], picked[1]

    def free(self, seq: int) -> None:
        for block in self.entry(seq).blocks:
            self.refs[block] -= 1
        del self.entries[seq]

    def fork(self, seq: int) -> int:
        entry = self.entry(seq)
        for block in entry.blocks:
            self.refs[block] += 1
        return self.add(Entry(list(entry.blocks), entry.length))
