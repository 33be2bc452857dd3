"""What a sandbox printed, cut into the calls that printed it, and never more of it than a person would read."""

from __future__ import annotations

from collections.abc import Callable

from grader.text import clean

HEAD, TAIL = 8192, 2048


def marker(nonce: str) -> bytes:
    """Return what the sandbox writes behind the output of a call. Whoever forges it moves his own words elsewhere."""
    return b"\0" + nonce.encode() + b"\0"


class Output:
    """Keeps a stream, and from ``most`` bytes on its start and its end; shows the start and the end of each call."""

    def __init__(self, most: int = 4 * (HEAD + TAIL)) -> None:
        """``most``: of what is cut into calls, as much as may be pending. What is left out here takes markers along."""
        self._most = most
        self._kept = bytearray()
        self._left_out = 0
        self.pending = 0

    def add(self, data: bytes) -> None:
        """Take what arrived."""
        self._kept += data
        self.pending += len(data)
        excess = len(self._kept) - self._most
        if excess > 0:
            del self._kept[HEAD : HEAD + excess]
            self._left_out += excess

    def up_to(self, nonce: str, more: Callable[[], bool]) -> str:
        """Return what came before the marker, reading ``more`` until it is there or nothing comes."""
        end = marker(nonce)
        while (at := self._kept.find(end)) < 0:
            if not more():
                return self.rest()
        part = self._shown(bytes(self._kept[:at]))
        del self._kept[: at + len(end)]
        self.pending, self._left_out = len(self._kept), 0
        return part

    def rest(self) -> str:
        """Return everything and start anew."""
        part = self._shown(bytes(self._kept))
        self._kept.clear()
        self.pending = self._left_out = 0
        return part

    def text(self) -> str:
        """Return everything that is kept."""
        return self._shown(bytes(self._kept))

    def _shown(self, data: bytes) -> str:
        excess = len(data) - HEAD - TAIL
        left_out = self._left_out + max(0, excess)
        if not left_out:
            return clean(data, HEAD + TAIL)
        tail = data[max(HEAD, len(data) - TAIL) :]
        return f"{clean(data[:HEAD], HEAD)}\n... [{left_out} bytes left out] ...\n{clean(tail, TAIL)}"
