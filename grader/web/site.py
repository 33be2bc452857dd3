"""The routes: the files of the page, the same for everybody, and what it asks, which needs the key."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from importlib import import_module, resources
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from grader.cli.base import App
from grader.errors import ChangedOnDisk, KataError, UsageError
from grader.formats.markup import STYLE
from grader.web.asked import Asked
from grader.web.bell import Bell
from grader.web.board import Board
from grader.web.desk import Desk
from grader.web.guard import ENTER, Keys

ACTIONS: Final = {
    "pages": (
        *("first", "course", "open", "rules", "start", "save", "hint", "solution", "picture", "talk", "rate-question"),
        *("rate", "history", "version", "restore"),
    ),
    "interview": (*("mock", "mock-begin", "mock-submit", "mock-told", "mock-questions", "mock-answer", "mock-end"),),
}
"""What may be asked, by the module that does it: imported by who asks first, so that the page need not wait for it."""
WAIT_SECONDS: Final = 25.0
KINDS: Final = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".txt": "text/plain",
    ".svg": "image/svg+xml",
}
PAGE: Final = "index.html"
REPORT_STYLE: Final = "report.css"
NONCE: Final = b"NONCE"

Handler = Callable[[Request], Awaitable[Response]]


class Site:
    """The page and what stands behind it."""

    def __init__(self, desk: Desk, board: Board, bell: Bell, keys: Keys) -> None:
        self._desk, self._board, self._bell, self._keys = desk, board, bell, keys
        self.files = files()

    @property
    def open_paths(self) -> set[str]:
        """What needs no key: it is the same for everybody."""
        return {"/", *(f"/static/{name}" for name in self.files if name != PAGE)}

    def app(self) -> Starlette:
        """Return the routes. Each path is written out: nothing in one is ever read as a name."""
        routes = [Route("/", partial(self._page, PAGE), methods=["GET"])]
        routes += [
            Route(f"/static/{name}", partial(self._page, name), methods=["GET"]) for name in self.files if name != PAGE
        ]
        routes.append(Route(ENTER, self._enter, methods=["POST"]))
        routes.append(Route("/api/wait", self._wait, methods=["POST"]))
        routes += [
            Route(f"/api/{name}", partial(self._do, room, name), methods=["POST"])
            for room, names in ACTIONS.items()
            for name in names
        ]
        return Starlette(routes=routes)

    async def _page(self, name: str, request: Request) -> Response:
        body = self.files[name]
        if name == PAGE:
            body = body.replace(NONCE, request.state.nonce.encode())
        return Response(body, media_type=KINDS["." + name.rsplit(".", 1)[1]])

    async def _enter(self, _request: Request) -> Response:
        """Give the key to whom the guard has let in."""
        return JSONResponse({"key": self._keys.key})

    async def _do(self, room: str, name: str, request: Request) -> Response:
        """Do something on the desk's thread; an error of ours is a sentence."""
        try:
            asked = await _asked(request)
            done, said = await self._desk.do(lambda app: self._done(room, name, app, asked), asked.lang)
        except KataError as error:
            return refusal(error)
        return JSONResponse({**done, "notes": said})

    def _done(self, room: str, name: str, app: App, asked: Asked) -> dict[str, Any]:
        from grader.web.pages import Visit  # noqa: PLC0415 - here and below: on the desk's thread

        done: dict[str, Any] = import_module(f"grader.web.{room}").ACTIONS[name](Visit(app, self._board, asked))
        return done

    def ready(self, app: App) -> None:
        """Make what every page needs at first, while the browser is busy with the scripts."""
        from grader.web import pages  # noqa: PLC0415

        pages.ready(app)

    async def _wait(self, request: Request) -> Response:
        """Answer as soon as there is something new to see of an answer; empty after a while."""
        try:
            asked = await _asked(request)
            target, after = asked.target(), asked.number("after", 0, 2**53)
            look = partial(self._look, target.name, asked.lang, after)
            if look() is None:
                await self._desk.do(lambda app: self._board.open(app, target).attend(asked.lang), asked.lang)
            seen = await self._bell.until(look, WAIT_SECONDS)
        except KataError as error:
            return refusal(error)
        return JSONResponse(seen or {})

    def _look(self, name: str, lang: str, after: int) -> dict[str, Any] | None:
        answer = self._board.find(name)
        return answer.seen(lang, after) if answer else None


async def _asked(request: Request) -> Asked:
    try:
        return Asked(json.loads(await request.body()))
    except (ValueError, RecursionError) as error:
        raise UsageError("JSON") from error


def refusal(error: KataError) -> JSONResponse:
    """Return an error as the page shows it."""
    status = 409 if isinstance(error, ChangedOnDisk) else 400 if isinstance(error, UsageError) else 500
    kind = type(error).__name__
    return JSONResponse({"error": error.message, "hint": error.hint, "kind": kind}, status_code=status)


def files() -> dict[str, bytes]:
    """Return the files of the page by their names."""
    folder = resources.files("grader.web") / "static"
    found = {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}
    return found | {REPORT_STYLE: STYLE.encode()}
