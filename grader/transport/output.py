"""What a sandbox printed, cut into the calls that printed it, and never more of it than a person would read."""

from __future__ import annotations

from collections.abc import Callable

from grader.text import clean

HEAD, TAIL = 8192, 2048


def marker(nonce: str) -> bytes:
    """Return what the sandbox writes behind the output of a call. Whoever forges it moves his own words elsewhere."""
    return b"\0" + nonce.encode() + b"\0"


class Output:
    """Keeps the start and the end of a stream since the last marker, and counts the rest."""

    def __init__(self) -> None:
        self._preloaded = bytearray()
        self._left_out = 0
        self.pending = 0

    def add(self, data: bytes) -> None:
        """Take what arrived."""
        self._preloaded += data
        self.pending += len(data)
        excess = len(self._preloaded) - 4 * (HEAD + TAIL)
        if excess > 0:
            del self._preloaded[HEAD : HEAD + excess]
            self._left_out += excess

    def up_to(self, nonce: str, more: Callable[[], bool]) -> str:
        """Return what came before the marker, reading ``more`` until it is there or nothing comes."""
        end = marker(nonce)
        while (at := self._preloaded.find(end)) < 0:
            if not more():
                return self.rest()
        part = self._shown(bytes(self._preloaded[:at]))
        del self._preloaded[: at + len(end)]
        self.pending, self._left_out = len(self._preloaded), 0
        return part

    def rest(self) -> str:
        """Return everything and start anew."""
        part = self._shown(bytes(self._preloaded))
        self._preloaded.clear()
        self.pending = self._left_out = 0
        return part

    def text(self) -> str:
        """Return everything that is kept."""
        return self._shown(bytes(self._preloaded))

    def _shown(self, data: bytes) -> str:
        excess = len(data) - HEAD - TAIL
        left_out = self._left_out + max(0, excess)
        if not left_out:
            return clean(data, HEAD + TAIL)
        tail = data[max(HEAD, len(data) - TAIL) :]
        return f"{clean(data[:HEAD], HEAD)}\n... [{left_out} bytes left out] ...\n{clean(tail, TAIL)}"
