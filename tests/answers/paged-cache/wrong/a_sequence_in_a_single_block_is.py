# family: core
# mistake: none
# A sequence in a single block is returned as a view, later writes and reuse of the block show in it.
import torch


class PagedKVCache:
    def __init__(self, n_blocks, block_size, n_heads, d_head, dtype=None, device=None):
        self._size = block_size
        self._k = torch.empty(n_blocks, n_heads, block_size, d_head, dtype=dtype, device=device)
        self._v = torch.empty_like(self._k)
        self._free = list(range(n_blocks))
        self._users = {}
        self._seqs = {}
        self._count = 0

    @property
    def n_free(self):
        return len(self._free)

    def _lookup(self, seq):
        if seq not in self._seqs:
            raise ValueError(f"sequence {seq} does not exist")
        return self._seqs[seq]

    def _grab(self):
        b = self._free.pop(0)
        self._users[b] = 1
        return b

    def _drop(self, b):
        self._users[b] -= 1
        if self._users[b] == 0:
            del self._users[b]
            self._free.append(b)

    def new(self):
        n = self._count
        self._count += 1
        self._seqs[n] = {"blocks": [], "len": 0}
        return n

    def append(self, seq, k, v):
        s = self._lookup(seq)
        n, used = k.shape[1], s["len"] % self._size
        must_copy = used != 0 and self._users[s["blocks"][-1]] > 1
        fresh = (s["len"] + n - 1) // self._size + 1 - len(s["blocks"])
        if fresh + must_copy > self.n_free:
            raise ValueError("no free blocks left")
        with torch.no_grad():
            if must_copy:
                old, b = s["blocks"][-1], self._grab()
                for buf in (self._k, self._v):
                    buf[b, :, :used] = buf[old, :, :used]
                self._drop(old)
                s["blocks"][-1] = b
            at = 0
            while at < n:
                off = s["len"] % self._size
                if off == 0:
                    s["blocks"].append(self._grab())
                c = min(self._size - off, n - at)
                b = s["blocks"][-1]
                self._k[b, :, off:off + c] = k[:, at:at + c]
                self._v[b, :, off:off + c] = v[:, at:at + c]
                at += c
                s["len"] += c

    def gather(self, seq):
        s = self._lookup(seq)
        T = s["len"]
        if not s["blocks"]:
            return self._k.new_empty(self._k.shape[1], 0, self._k.shape[3]), self._v.new_empty(
                self._v.shape[1], 0, self._v.shape[3])
        if len(s["blocks"]) == 1:
            b = s["blocks"][0]
            return self._k[b, :, :T], self._v[b, :, :T]  # wrong
        ks, vs = [], []
        for i, b in enumerate(s["blocks"]):
            c = min(self._size, T - i * self._size)
            ks.append(self._k[b, :, :c])
            vs.append(self._v[b, :, :c])
        return torch.cat(ks, dim=1), torch.cat(vs, dim=1)

    def free(self, seq):
        s = self._lookup(seq)
        for b in s["blocks"]:
            self._drop(b)
        del self._seqs[seq]

    def fork(self, seq):
        s = self._lookup(seq)
        for b in s["blocks"]:
            self._users[b] += 1
        n = self.new()
        self._seqs[n] = {"blocks": list(s["blocks"]), "len": s["len"]}
        return n
