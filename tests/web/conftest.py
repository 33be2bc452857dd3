"""The page's server in a thread of the test, with made-up katas and the made-up grader."""

import http.client
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from grader import language
from grader.watch import worker
from grader.web.guard import Keys
from grader.web.serve import link, listening
from grader.web.service import Service
from tests.cli.conftest import Tool, driver, tool
from tests.web import browser
from tests.web.browser import Tab

assert driver, tool


class Web:
    """A running server, and requests as the page makes them."""

    def __init__(self, tool: Tool) -> None:
        self.tool, self.keys = tool, Keys()
        self.port = 0
        self.start()

    def start(self, lang: str = "en") -> None:
        """Start it, where it was before."""
        self._listener = listening(self.port)
        self.port = self._listener.getsockname()[1]
        self.service = Service(self.tool.workspace, lang, self._listener, self.keys)
        self._thread = threading.Thread(target=self.service.run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it."""
        self.service.stop()
        self._thread.join(10)
        assert not self._thread.is_alive()
        self.service.close()
        self._listener.close()

    @property
    def host(self) -> str:
        """Its one name."""
        return f"127.0.0.1:{self.port}"

    @property
    def link(self) -> str:
        """The page."""
        return link(self._listener, f"key={self.keys.key}", "en")

    def request(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Ask anything; a header of None is left out."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders(body)
            reply = connection.getresponse()
            return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()
        finally:
            connection.close()

    def headers(self, body: bytes, **others: str | None) -> dict[str, str]:
        """Return the headers that the page sends, some of them others; None leaves one out."""
        own = {"Host": self.host, "Origin": f"http://{self.host}", "Content_Type": "application/json"}
        own |= {"Content_Length": str(len(body)), "X_Kata_Key": self.keys.key}
        return {name: value for name, value in (own | others).items() if value is not None}

    def post(self, path: str, document: Any, **others: str | None) -> tuple[int, dict[str, str], bytes]:
        """Ask as the page does, but for some headers."""
        body = json.dumps(document).encode()
        return self.request("POST", path, body, **self.headers(body, **others))

    def ask(self, name: str, code: int = 200, **document: Any) -> dict[str, Any]:
        """Ask as the page does, and check how it is answered."""
        status, _headers, body = self.post(f"/api/{name}", {"lang": "en", **document})
        assert status == code, body
        return json.loads(body)

    def wait(self, state: dict[str, Any], kata: str = "second", kind: str = "") -> dict[str, Any]:
        """Return what is newer than a state."""
        return self.ask("wait", kata=kata, kind=kind, after=state["number"])

    def judged(self, state: dict[str, Any], kata: str = "second", kind: str = "") -> dict[str, Any]:
        """Return the state that follows once nothing is checked any more."""
        while True:
            state = self.wait(state, kata, kind)
            if not state["checking"]:
                return state


@contextmanager
def served(tool: Tool) -> Iterator[Web]:
    """Serve a tool's workspace."""
    web = Web(tool)
    try:
        yield web
    finally:
        web.stop()
        language.use("en")


@pytest.fixture
def web(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """The page's server."""
    monkeypatch.setattr(worker, "session", sys.modules["grader.client.session"])  # the made-up one
    with served(tool) as running:
        yield running


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser."""
    with browser.started() as running:
        yield running


@pytest.fixture
def window(chromium: Any) -> Iterator[Any]:
    """A window of its own: its tabs share nothing with others."""
    context = chromium.new_context(viewport={"width": 1300, "height": 900})
    yield context
    context.close()


@pytest.fixture
def tab(window: Any, web: Web) -> Iterator[Tab]:
    """A tab with the page; whatever it does, its scripts have no errors and break no rule of its policy."""
    one = Tab(window.new_page(), web.link).open()
    yield one
    assert one.errors == []
    assert one.violations() == []
