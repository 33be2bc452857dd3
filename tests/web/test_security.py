"""Who is refused: every route, without the key, under another name, from another page, with a path for an id."""

import json
import re
import secrets
import socket
from pathlib import Path

import pytest
from starlette.applications import Starlette

from grader.web.guard import ENTER, HEADERS, Guard, Keys
from grader.web.site import ACTIONS
from tests.web.conftest import Web

ROOT = Path(__file__).resolve().parents[2]
PATHS = [
    "../mha",
    "..",
    "/etc/passwd",
    "second/../second",
    "second.debug",
    "second\0",
    "Second",
    "second.py",
    "%2e%2e",
    "",
]


@pytest.fixture
def routes(web: Web) -> list[tuple[str, str]]:
    """Every route that there is, from the table of the server itself: method and path."""
    app = web.service.site.app()
    assert isinstance(app, Starlette)
    return [(method, route.path) for route in app.routes for method in sorted(route.methods) if method != "HEAD"]


def test_what_is_open_is_the_same_for_everybody(web: Web, routes) -> None:
    """The files of the page need no key, hold nothing of the learner's, and are all that is open."""
    web.ask("start", kata="second", kind="")
    web.tool.answer("# mine alone\n")
    assert {path for method, path in routes if method == "GET"} == web.service.site.open_paths
    for path in web.service.site.open_paths:
        status, headers, body = web.request("GET", path, Host=web.host)
        assert status == 200
        assert b"mine alone" not in body
        assert web.keys.key.encode() not in body
        assert headers["x-content-type-options"] == "nosniff"


def test_every_other_route_needs_the_key(web: Web, routes) -> None:
    """Without it, with a wrong one, with two, and with the code of the browser."""
    asked = [path for method, path in routes if method == "POST"]
    assert len(asked) == sum(map(len, ACTIONS.values())) + 2
    wrong = [None, "", "x", web.keys.key[:-1], web.keys.key + "x", secrets.token_urlsafe(32), "\xff"]
    for path in asked:
        for key in wrong:
            status, _headers, body = web.post(path, {"lang": "en"}, X_Kata_Key=key)
            assert (status, b"key" in body) == (403, True), (path, key)
    for path in set(asked) - {ENTER}:
        status, _headers, _body = web.post(path, {"lang": "en"}, X_Kata_Key=web.keys.code())
        assert status == 403


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1:{port}.evil.example",
        "[::1]:{port}",
        "",
    ],
)
def test_another_name_is_refused_everywhere(web: Web, routes, host) -> None:
    """A name that somebody else has let point here opens nothing, not even the files of the page."""
    host = host.format(port=web.port)
    for method, path in routes:
        body = b'{"lang": "en"}'
        origin = f"http://{host}"
        status, _headers, _body = web.request(method, path, body, **web.headers(body, Host=host, Origin=origin))
        assert status == 403, (method, path)


def test_no_name_and_two_names_are_refused(web: Web) -> None:
    """A request says one name."""
    for head in ("", f"Host: {web.host}\r\nHost: evil.example\r\n"):
        with socket.create_connection(("127.0.0.1", web.port), timeout=10) as connection:
            connection.sendall(f"GET / HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode())
            assert re.match(rb"HTTP/1.1 (400|403) ", connection.recv(100))


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:1",
        "http://127.0.0.1",
        "http://localhost:{port}",
    ],
)
def test_another_page_is_refused_everywhere(web: Web, routes, origin) -> None:
    """By equality: nothing that only looks like our page asks anything, with the key or without."""
    for method, path in routes:
        body = b'{"lang": "en"}'
        status, headers, _body = web.request(
            method, path, body, **web.headers(body, Origin=origin.format(port=web.port))
        )
        assert status == 403, (method, path)
        assert "access-control-allow-origin" not in headers


def test_who_does_not_say_which_page_asks_is_refused(web: Web, routes) -> None:
    """Browsers always say it where something is posted."""
    for path in (path for method, path in routes if method == "POST"):
        assert web.post(path, {"lang": "en"}, Origin=None)[0] == 403


def files_below(folder: Path) -> list[Path]:
    """Return what lies there, but for the history."""
    return sorted(path for path in folder.rglob("*") if "home" not in path.relative_to(folder).parts)


def test_a_path_for_an_id_is_refused_everywhere(web: Web, routes, tmp_path) -> None:
    """A kata has an id; nothing else is one, and no file comes of it."""
    outside = tmp_path / "outside.py"
    outside.write_text("secret\n")
    before = files_below(tmp_path)
    named = {"kind": "", "text": "x", "seen": "", "number": 1, "rating": 1, "card": "", "known": 0, "after": 0}
    nameless = ("course", "rules", "mock", "mock-submit", "mock-told", "mock-questions", "mock-answer")
    free = {ENTER, "/api/mock-end", *(f"/api/{name}" for name in nameless)}
    for path in (path for method, path in routes if method == "POST" and path not in free):
        for name in [*PATHS, str(outside), str(outside.with_suffix(""))]:
            if path in {"/api/talk", "/api/first"} and not name:
                continue  # none: of all katas, or the current one
            katas = {"katas": [name], "feedback": "none"}
            status, _headers, body = web.post(path, {"lang": "en", "kata": name, **named, **katas})
            assert (status, b"secret" in body) == (400, False), (path, name, body)
    for kind in ("../x", "x", "Debug", None, 1, "answer"):
        assert web.post("/api/open", {"lang": "en", "kata": "second", "kind": kind})[0] == 400
    assert files_below(tmp_path) == before


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/course"),
        ("PUT", "/api/save"),
        ("DELETE", "/"),
        ("OPTIONS", "/api/course"),
        ("POST", "/"),
        ("HEAD", "/"),
    ],
)
def test_every_other_way_of_asking_is_refused(web: Web, method, path) -> None:
    """What is shown is got, what is done is posted; nobody is told in advance that another page may ask."""
    body = b'{"lang": "en"}'
    status, headers, _body = web.request(method, path, body, **web.headers(body))
    assert status == 405
    assert not {name for name in headers if name.startswith("access-control")}


@pytest.mark.parametrize(
    "path", ["/static/../guard.py", "/static/..%2fguard.py", "/static/", "/etc/passwd", "//evil", "/%2e"]
)
def test_there_is_no_other_file(web: Web, path) -> None:
    """Files are served by their names out of a table."""
    assert web.request("GET", path, Host=web.host)[0] in {404, 405}


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/json; charset=utf-7", None],
)
def test_only_json_is_taken(web: Web, kind) -> None:
    """What a form of another page could send is refused before it is read."""
    assert web.post("/api/course", {"lang": "en"}, Content_Type=kind)[0] == 415


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"1", b"{", b'"x"', b"\xff", b"[" * 100_000, b'{"lang": "xx"}', b'{"lang": 1}']
)
def test_what_is_no_request_is_refused(web: Web, body) -> None:
    """Never an error of the server."""
    status, _headers, reply = web.request("POST", "/api/course", body, **web.headers(body))
    assert status == 400
    assert "error" in json.loads(reply)


def test_what_is_too_long_is_refused_unread(web: Web) -> None:
    """By what it says of itself; without a length nothing is read.

    The headers come alone: bytes that a server leaves unread when it hangs up may take its reply with them.
    """

    def status(**of_the_body: str | None) -> int:
        return web.request("POST", "/api/save", **web.headers(b"", **of_the_body))[0]

    assert status(Content_Length="99999999") == 413
    assert status(Content_Length="-1") in {400, 413}
    assert status(Content_Length=None, Transfer_Encoding="chunked") == 413


def test_the_browsers_code_works_once(web: Web) -> None:
    """Whoever reads the command line of the browser comes too late."""
    code = web.keys.code()
    status, _headers, body = web.post(ENTER, {"lang": "en"}, X_Kata_Key=code)
    assert (status, json.loads(body)) == (200, {"key": web.keys.key})
    assert web.post(ENTER, {"lang": "en"}, X_Kata_Key=code)[0] == 403
    assert web.post(ENTER, {"lang": "en"}, X_Kata_Key=web.keys.key)[0] == 403


def test_the_browsers_code_works_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser that did not start leaves nothing open."""
    keys = Keys()
    code = keys.code().encode()
    monkeypatch.setattr("grader.web.guard.CODE_SECONDS", -1.0)
    late = keys.code().encode()
    assert not keys.spend(late)
    assert keys.spend(code)


def test_every_reply_has_its_headers(web: Web, routes) -> None:
    """Refusals and files, too: nothing is framed, stored, sniffed or taken from elsewhere; a nonce is new each time."""
    nonces = set()
    for method, path in [*routes, ("GET", "/nowhere")]:
        _status, headers, _body = web.request(method, path, Host=web.host)
        assert {name: headers[name] for name in HEADERS} == HEADERS
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'self'; style-src 'self' 'nonce-")
        assert "unsafe" not in policy
        nonces.add(re.search(r"nonce-([\w-]+)", policy)[1])
        assert "set-cookie" not in headers
        assert "server" not in headers
    assert len(nonces) == len(routes) + 1


def test_the_page_has_the_nonce_of_its_reply(web: Web) -> None:
    """So that the editor's styles, and no others, are taken."""
    _status, headers, body = web.request("GET", "/", Host=web.host)
    nonce = re.search(r"nonce-([\w-]+)", headers["content-security-policy"])[1]
    assert f'<meta name="nonce" content="{nonce}">'.encode() in body
    assert b"NONCE" not in body


def test_what_is_no_request_of_http_is_not_served() -> None:
    """A web socket would come without the checks."""
    guard = Guard(None, Keys(), ["x"], [])
    coroutine = guard({"type": "websocket"}, None, None)
    with pytest.raises(StopIteration):
        coroutine.send(None)


def test_a_learners_text_comes_as_text(web: Web, monkeypatch) -> None:
    """In the verdict it is escaped; elsewhere it is a value in JSON, of which the page makes text."""
    nasty = "<img src=x onload=alert(1)><script>alert(1)</script>"
    monkeypatch.setitem(web.tool.driver.FAILING[1], "printed", nasty)
    web.ask("start", kata="second", kind="")
    state = web.ask("open", kata="second", kind="")["state"]
    web.ask("save", kata="second", kind="", text=f"fail {nasty}\n", seen=state["digest"], grade=True)
    found = web.judged(state)
    assert "&lt;script&gt;" in found["verdict"]["html"]
    assert not re.search(r"<(img|script)", found["verdict"]["html"])
    _status, headers, _body = web.post("/api/open", {"lang": "en", "kata": "second", "kind": ""})
    assert headers["content-type"] == "application/json"


def test_the_page_says_what_is_promised() -> None:
    """Each line of docs/web-security.md names the tests that hold it."""
    text = (ROOT / "docs" / "web-security.md").read_text(encoding="utf-8")
    own = Path(__file__).read_text(encoding="utf-8")
    named = re.findall(r"`(test_\w+)`", text)
    assert len(named) > 8
    assert [name for name in named if f"def {name}(" not in own] == []
