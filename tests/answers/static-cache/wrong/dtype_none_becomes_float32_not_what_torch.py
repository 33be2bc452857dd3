# family: core
# mistake: none
# Dtype=None becomes float32, not what torch.empty makes of it (the default dtype).
import torch


class StaticKVCache:
    def __init__(self, batch, n_heads, max_len, d_head, dtype=None, device=None):
        dtype = dtype or torch.float32  # wrong
        self._buf = torch.empty((2, batch, n_heads, max_len, d_head), dtype=dtype, device=device)
        self._n = 0

    @property
    def length(self):
        return self._n

    def update(self, k, v):
        n = k.shape[2]
        room = self._buf.shape[3] - self._n
        if n > room:
            raise ValueError(f"{n} tokens, room for {room}")
        with torch.no_grad():
            self._buf[0].narrow(2, self._n, n).copy_(k)
            self._buf[1].narrow(2, self._n, n).copy_(v)
        self._n += n
        k_all, v_all = self._buf.narrow(3, 0, self._n)
        return k_all, v_all

    def reset(self):
        self._n = 0
