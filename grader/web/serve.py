"""`kata web` from its start to its end: a socket on this machine alone, a link with the key, a browser."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn

from grader.errors import UsageError
from grader.language import _
from grader.web.answers import Board
from grader.web.bell import Bell
from grader.web.desk import Desk
from grader.web.guard import Guard, Keys
from grader.web.site import Site

ADDRESS = "127.0.0.1"


def serve(folder: Path, lang: str, *, port: int, browser: bool, say: Callable[[str], None]) -> None:
    """Serve until somebody ends it. ``port`` 0 is any that is free. Raises UsageError where it is taken."""
    with listening(port) as listener:
        service = Service(folder, lang, listener, Keys())
        say(_("kata is at {link}").format(link=service.link(f"key={service.keys.key}")))
        say(_("The link is for you alone, and works on this machine alone. Ctrl-C ends it."))
        if browser and _has_browser():
            where = service.link(f"code={service.keys.code()}")
            threading.Thread(target=webbrowser.open, args=[where], daemon=True).start()
        try:
            service.run()
        except KeyboardInterrupt:
            pass  # the one way to end it
        finally:
            service.close()


class Service:
    """The page's server."""

    def __init__(self, folder: Path, lang: str, listener: socket.socket, keys: Keys) -> None:
        self.host = f"{ADDRESS}:{listener.getsockname()[1]}"
        self.keys = keys
        self._lang, self._listener = lang, listener
        self._bell, self._desk = Bell(), Desk(folder, lang)
        self._board = Board(self._desk.post, self._bell.ring)
        self.site = Site(self._desk, self._board, self._bell, keys)
        config = uvicorn.Config(
            Guard(self.site.app(), keys, [self.host], self.site.open_paths),
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
        self._server = _Server(config, self._bell)

    def link(self, credential: str) -> str:
        """Return the address of the page; what is behind the `#` no browser sends anywhere."""
        spoken = "" if self._lang == "en" else f"&lang={self._lang}"
        return f"http://{self.host}/#{credential}{spoken}"

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

    def __init__(self, config: uvicorn.Config, bell: Bell) -> None:
        super().__init__(config)
        self._bell = bell

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve, in the loop that the bell rings in."""
        self._bell.attach(asyncio.get_running_loop())
        await super().serve(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal that ends us."""
        self._bell.close()
        super().handle_exit(sig, frame)


def listening(port: int) -> socket.socket:
    """Listen on this machine alone. Raises UsageError."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # A port that has just been left may be taken again at once.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
        listener.listen(64)
    except OSError as error:
        listener.close()
        sentence = _("Port {port} cannot be used: {reason}.")
        raise UsageError(
            sentence.format(port=port, reason=(error.strerror or str(error)).lower()),
            _("`kata web` without --port takes one that is free."),
        ) from error
    return listener


def _has_browser() -> bool:
    """Tell whether a browser with windows may be there: one in this terminal would take it from us."""
    if os.environ.get("BROWSER") or not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
