"""What goes wrong in explaining costs no verdict, and is said."""

from __future__ import annotations

import pytest

from grader.judge.explain import explanation

REQUEST = {"filename": "mha.py", "source": "", "lang": "en"}


@pytest.mark.parametrize("error", [RuntimeError("no\nway"), TimeoutError("the judge did not come to an end")])
def test_a_search_that_fails_is_told(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """The report has no causes then, but a line that says what went wrong and where."""

    def fails(*_given: object) -> None:
        raise error

    monkeypatch.setattr(explanation, "diagnose", fails)
    part = explanation.explained(REQUEST, None, [], None)  # type: ignore[arg-type]
    begin = f"{type(error).__name__}: {str(error).partition(chr(10))[0]} ("
    assert part.pop("unexplained").startswith(begin)
    assert not any(part.values())
