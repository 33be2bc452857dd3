"""`kata web` from its start to its end: a socket on this machine alone, a link with the key, a browser."""

from __future__ import annotations

import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

from grader.errors import UsageError
from grader.language import _
from grader.web.guard import Keys

ADDRESS = "127.0.0.1"


def serve(folder: Path, lang: str, *, port: int, browser: bool, say: Callable[[str], None]) -> None:
    """Serve until somebody ends it. ``port`` 0 is any that is free. Raises UsageError where it is taken."""
    with listening(port) as listener:
        keys = Keys()
        say(_("kata is at {link}").format(link=link(listener, f"key={keys.key}", lang)))
        say(_("The link is for you alone, and works on this machine alone. Ctrl-C ends it."))
        if browser and _has_browser():
            where = link(listener, f"code={keys.code()}", lang)
            threading.Thread(target=webbrowser.open, args=[where], daemon=True).start()
        # A browser takes its time to start, and who asks before we serve waits at the socket.
        from grader.web.service import Service  # noqa: PLC0415 - so this is imported meanwhile

        service = Service(folder, lang, listener, keys)
        try:
            service.run()
        except KeyboardInterrupt:
            pass  # the one way to end it
        finally:
            service.close()


def link(listener: socket.socket, credential: str, lang: str) -> str:
    """Return the address of the page; what is behind the `#` no browser sends anywhere."""
    spoken = "" if lang == "en" else f"&lang={lang}"
    return "http://{}:{}/#{}{}".format(*listener.getsockname(), credential, spoken)


def listening(port: int) -> socket.socket:
    """Listen on this machine alone. Raises UsageError."""
    # Named, the protocol lets asyncio send what is small at once; else a reply's body waits for the browser's word on
    # its head, which that holds back for 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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
