"""Who may ask what: every request passes here first.

docs/web-security.md says what is promised.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Collection
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.language import _

KEY_HEADER: Final = b"x-kata-key"
ENTER: Final = "/api/enter"
"""The one route that takes a code for the browser in the place of the key, once."""
MOST_BYTES: Final = 4 << 20
"""An answer has at most 1 MiB; JSON may write a character in six."""
CODE_SECONDS: Final = 120.0
POLICY: Final = (
    "default-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Keys:
    """The secret of this server, and codes that are worth it once."""

    def __init__(self) -> None:
        self.key = secrets.token_urlsafe(32)
        self._lock = threading.Lock()
        self._codes: dict[str, float] = {}

    def code(self) -> str:
        """Return a code for the browser that is started: others on this machine may see how it was started."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            self._codes[code] = time.monotonic() + CODE_SECONDS
        return code

    def is_key(self, word: bytes) -> bool:
        """Tell whether this is the secret."""
        return secrets.compare_digest(word, self.key.encode())

    def spend(self, word: bytes) -> bool:
        """Take a code; tell whether it was one."""
        now = time.monotonic()
        with self._lock:
            found = [code for code in self._codes if secrets.compare_digest(word, code.encode())]
            return any(self._codes.pop(code) > now for code in found)


class Refused(Exception):  # noqa: N818 - a request is, by us
    """A request that nobody else gets to see."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Guard:
    """Refuses what did not come from our own page, and gives every reply its headers."""

    def __init__(self, inner: ASGIApp, keys: Keys, hosts: Collection[str], open_paths: Collection[str]) -> None:
        """``hosts`` are the only names of this server; ``open_paths`` the files of the page, the same for everybody."""
        self._inner, self._keys = inner, keys
        self._hosts = {host.encode() for host in hosts}
        self._open = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] != "http":
            return  # nothing else is served: what waits for an answer is disconnected
        nonce = secrets.token_urlsafe(16)
        scope["state"] = {"nonce": nonce}

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [(name, value) for name, value in message["headers"] if name.decode() not in HEADERS]
                ours = {**HEADERS, "content-security-policy": POLICY.format(nonce=nonce)}
                message["headers"] = [*kept, *((name.encode(), value.encode()) for name, value in ours.items())]
            await send(message)

        try:
            self._check(scope)
        except Refused as refused:
            await _refuse(guarded, refused)
            return
        await self._inner(scope, receive, guarded)

    def _check(self, scope: Scope) -> None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        host = headers.get(b"host", [])
        if len(host) != 1 or host[0] not in self._hosts:
            raise Refused(403, _("This server has another name."))
        origin = headers.get(b"origin", [])
        if any(one != b"http://" + host[0] for one in origin):
            raise Refused(403, _("Another page has asked this."))
        if scope["method"] == "GET" and scope["path"] in self._open:
            return
        if scope["method"] != "POST" or scope["path"] in self._open:
            raise Refused(405, _("This is asked in another way."))
        if len(origin) != 1:
            raise Refused(403, _("Nobody says which page has asked this."))
        if headers.get(b"content-type") != [b"application/json"]:
            raise Refused(415, _("This is asked in JSON."))
        length = headers.get(b"content-length", [])
        if len(length) != 1 or not length[0].isdigit() or int(length[0]) > MOST_BYTES:
            raise Refused(413, _("This is too long."))
        key = headers.get(KEY_HEADER, [])
        known = self._keys.spend if scope["path"] == ENTER else self._keys.is_key
        if len(key) != 1 or not known(key[0]):
            raise Refused(403, _("The key is missing or of another `kata web`: open the link that the terminal shows."))


async def _refuse(send: Send, refused: Refused) -> None:
    body = json.dumps({"error": str(refused)}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    # What was sent and not read must not be taken for the next request.
    headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
