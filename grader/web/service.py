"""The page's server, put together: the guard before the routes, the desk behind them."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn

from grader.web.bell import Bell
from grader.web.board import Board
from grader.web.desk import Desk
from grader.web.guard import Guard, Keys
from grader.web.site import Site


def host_of(listener: socket.socket) -> str:
    """Return the one name of the server."""
    return "{}:{}".format(*listener.getsockname())


class Service:
    """The page's server."""

    def __init__(self, folder: Path, lang: str, listener: socket.socket, keys: Keys) -> None:
        self._listener = listener
        self._bell, self._desk = Bell(), Desk(folder, lang)
        self._board = Board(self._desk.post, self._bell.ring)
        self.site = Site(self._desk, self._board, self._bell, keys)
        config = uvicorn.Config(
            Guard(self.site.app(), keys, [host_of(listener)], self.site.open_paths),
            http="h11",
            ws="none",
            lifespan="off",
            loop="asyncio",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        self._server = _Server(config, self._bell, lambda: self._desk.post(self.site.ready, lang))

    def run(self) -> None:
        """Serve until a signal, or `stop`."""
        self._server.run(sockets=[self._listener])

    def stop(self) -> None:
        """End it, from another thread."""
        self._bell.close()
        self._server.should_exit = True

    def close(self) -> None:
        """Leave what is open."""
        self._bell.close()
        self._desk.close(self._board.close)


class _Server(uvicorn.Server):
    """A server that lets nobody wait when it ends."""

    def __init__(self, config: uvicorn.Config, bell: Bell, begun: Callable[[], None]) -> None:
        super().__init__(config)
        self._bell, self._begun = bell, begun

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve, in the loop that the bell rings in."""
        self._bell.attach(asyncio.get_running_loop())
        await super().serve(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen; what takes longer than to send the page's files comes after that."""
        await super().startup(sockets)
        self._begun()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal that ends us."""
        self._bell.close()
        super().handle_exit(sig, frame)
