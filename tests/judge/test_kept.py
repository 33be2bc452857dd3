"""What is kept from one call to the next: what counts as that, and that it is told where it is to blame."""

from __future__ import annotations

from grader.client.session import Session
from grader.judge.explain.locate.kept import kept_in
from tests.gradings import on_its_worker
from tests.judge.test_causes import changed, line_of, why

KEEPING = """\
from functools import lru_cache
_KNOWN = {}
_SETTINGS = {}

@lru_cache(maxsize=8)
def table(n):
    return list(range(n))

def lookup(key, made={}):
    known = _KNOWN.setdefault(key, {})
    known[key] = made[key] = _SETTINGS[key]
    local = {}
    local[key] = 1
    return known

class Layer:
    pool = {}

    def __init__(this, n):
        this.n = n
        this.pool[n] = this

    def forward(this, x):
        this.last = x
        x.seen = True
        return x
"""
KEPT_SCORES = """\
    if (q.shape, k.shape) not in _KNOWN:
        _KNOWN[q.shape, k.shape] = q @ k.transpose(-2, -1)
    scores = _KNOWN[q.shape, k.shape].detach().to(q.dtype)"""
KEPT_ROOTS = """\
    if d_k not in _ROOTS:
        _ROOTS[d_k] = math.sqrt(d_k)
    scores = scores / _ROOTS[d_k]
    scores = scores * 1.5"""


def test_what_counts_as_kept() -> None:
    """By a decorator, in the file, in a default, on the object, for all objects; not what a call has for itself."""
    found = {(one.name, one.line, one.is_own) for one in kept_in(KEEPING)}
    assert found == {
        ("table", 5, False),
        ("_KNOWN", 10, False),
        ("known", 11, False),
        ("made", 11, False),
        ("pool", 21, False),
        ("last", 24, True),
    }
    assert kept_in("def f(:") == ()


@on_its_worker("sdpa")
def test_what_an_earlier_call_has_left_is_told_where_it_is_kept(session: Session) -> None:
    """The condition, what keeps it and what reads it; not what becomes of it."""
    edits = (
        ("import math\n", "import math\n\n_KNOWN = {}\n"),
        ("    scores = q @ k.transpose(-2, -1)  # (B, n, m)", KEPT_SCORES),
    )
    source = changed("sdpa", *edits)
    first = why(session, "sdpa", source, named=False)[0]
    begin = line_of(source, "not in _KNOWN")
    assert first["title"] == "something is kept from one call to the next"
    assert first["lines"] == [begin, begin + 1, begin + 2]


@on_its_worker("sdpa")
def test_what_is_kept_is_not_blamed_where_the_call_alone_is_wrong_as_well(session: Session) -> None:
    """A table that is kept by all that it hangs on is no mistake."""
    edits = ("import math\n", "import math\n\n_ROOTS = {}\n"), ("    scores = scores / math.sqrt(d_k)", KEPT_ROOTS)
    source = changed("sdpa", *edits)
    causes = why(session, "sdpa", source, named=False)
    assert all(cause["title"] != "something is kept from one call to the next" for cause in causes)
    assert line_of(source, "scores * 1.5") in causes[0]["lines"]
