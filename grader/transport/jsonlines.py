"""JSON documents over a stream socket, one after the other, with descriptors where they are needed."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any, Final

_LENGTH: Final = struct.Struct("<I")
MOST_DESCRIPTORS: Final = 8


def send(channel: socket.socket, document: dict[str, Any], fds: tuple[int, ...] = ()) -> None:
    """Send one document and, with its first byte, the descriptors."""
    text = json.dumps(document).encode()
    length = _LENGTH.pack(len(text))
    if fds:
        socket.send_fds(channel, [length], list(fds))
    else:
        channel.sendall(length)
    channel.sendall(text)


def receive(channel: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Wait for one document. Raises EOFError when the other end is gone."""
    start, fds, _, _ = socket.recv_fds(channel, _LENGTH.size, MOST_DESCRIPTORS)
    start += exactly(channel, _LENGTH.size - len(start)) if start else b""
    if not start:
        raise EOFError
    document: dict[str, Any] = json.loads(exactly(channel, _LENGTH.unpack(start)[0]))
    return document, fds


def exactly(channel: socket.socket, size: int) -> bytes:
    """Wait for so many bytes. Raises EOFError when the other end is gone."""
    parts = bytearray()
    while len(parts) < size:
        part = channel.recv(size - len(parts))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)
