"""Collecting the cases of a kata: pytest reads them, the runner runs them.

The cases are ordinary pytest functions with marks and parameters. They have two arguments of their own, ``check`` and
``rng``, which each run of a case gets anew.
"""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from grader.catalog import FAMILIES
from grader.judge.cases.case import Case, traits_of
from grader.judge.cases.check import Check
from grader.judge.cases.rng import Numbers
from grader.judge.failure import Failure
from grader.judge.translations import Translations
from grader.judge.verdict.replies import misfit
from grader.judge.workers.pending import MustResubmit

UNUSED_PLUGINS: Final = (
    *("cacheprovider", "terminal", "logging", "doctest", "unittest", "junitxml", "pastebin", "stepwise"),
    *("faulthandler", "setuponly", "setupplan", "debugging", "unraisableexception", "threadexception", "warnings"),
    *("recwarn", "monkeypatch", "tmpdir", "legacypath", "capture", "reports", "subtests", "pytester_assertions"),
)

LARGE: Final = 1e6
HALF: Final = 0.5


def files_in(folder: Path) -> list[Path]:
    """Return the files of cases in a folder: ``cases.py``, then, by name, the ``cases_*.py`` of a kata with many."""
    return [folder / "cases.py", *sorted(folder.glob("cases_*.py"))]


def cases_of(folder: Path, texts: Translations) -> list[Case]:
    """Return the cases in a folder, in their order. Raises RuntimeError where they cannot be read."""
    plugin, files = _Collector(texts), files_in(folder)
    arguments = [
        *map(str, files),
        f"--rootdir={folder}",
        *("-c", os.devnull, "--noconftest", "--assert=plain", "--import-mode=importlib"),
        *(part for name in UNUSED_PLUGINS for part in ("-p", f"no:{name}")),
    ]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with warnings.catch_warnings(), importing_each_other(files):
        warnings.simplefilter("ignore")
        status = pytest.main(arguments, plugins=[plugin])
    if plugin.problems or status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError((plugin.problems or [f"pytest ended with {status}"])[0])
    return plugin.cases


@contextmanager
def importing_each_other(files: list[Path]) -> Iterator[None]:
    """Let a second file of cases import helpers from the first; those of another kata go by the same names."""
    names = [file.stem for file in files]
    folder = str(files[0].parent)
    for name in names:
        sys.modules.pop(name, None)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        for name in names:
            sys.modules.pop(name, None)


class _Collector:
    """The pytest plugin: takes over where pytest would start to run what it has collected."""

    def __init__(self, texts: Translations) -> None:
        self._texts = texts
        self.cases: list[Case] = []
        self.problems: list[str] = []

    def pytest_configure(self, config: pytest.Config) -> None:
        """Know the marks of the cases."""
        for family in FAMILIES:
            config.addinivalue_line("markers", f"{family}: a case of the family {family}")
        config.addinivalue_line("markers", "derive(*families): derive only these families from the case")
        config.addinivalue_line("markers", "trains: a case that trains a module")
        config.addinivalue_line("markers", "precise: a case that runs in float64")
        config.addinivalue_line("markers", "large: a case on which no known mistake is tried")

    def pytest_exception_interact(self, call: pytest.CallInfo[Any]) -> None:
        """Cases that cannot be read are the grader's own fault."""
        if call.excinfo is not None:
            where = " < ".join(f"{Path(e.path).name}:{e.lineno + 1}" for e in reversed(call.excinfo.traceback[-4:]))
            self.problems.append(f"{call.excinfo.exconly()} ({where})")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Whatever else is in the way of reading them is so as well."""
        if report.failed:
            self.problems.append(str(report.longrepr))

    @pytest.fixture
    def rng(self) -> None:
        """Each run draws its inputs anew from the same stream: see `_case`."""

    @pytest.fixture
    def check(self) -> None:
        """Each run has a check of its own: see `_case`."""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take the items that pytest has collected."""
        self.cases = [_case(item, position, self._texts) for position, item in enumerate(session.items)]
        return True


def _case(item: pytest.Item, position: int, texts: Translations) -> Case:
    """Return a case as a function of ``check`` and ``rng`` alone."""
    assert isinstance(item, pytest.Function)
    own = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    names = item._fixtureinfo.argnames  # noqa: SLF001 - the names of its parameters, in order
    name = item.originalname or item.name
    about = texts.why.get(name) or (item.function.__doc__ or "").strip().partition("\n")[0]

    def run(check: Check, rng: Numbers) -> None:
        given: dict[str, Any] = own | {"check": check, "rng": rng}
        try:
            item.function(**{name: given[name] for name in names})
        except (Failure, MustResubmit):
            raise
        except Exception as error:
            if not check.looked:
                raise
            raise misfit(check.exchanges, error) from error  # a result is not what the case takes it for

    title = texts.titles.get(name, "")
    text = ", ".join(map(_shown, own.values()))
    traits = traits_of(item.iter_markers())
    return Case(name, text, about, position=position, function=run, title=title, **traits)


def _shown(value: Any) -> str:
    """Return a parameter as a reader wants it: of a large power of two its exponent, not thirteen digits."""
    if isinstance(value, float) and abs(value) >= LARGE and math.isfinite(value):
        mantissa, exponent = math.frexp(value)
        if abs(mantissa) == HALF:
            return f"{'-' if value < 0 else ''}2^{exponent - 1}"
        return f"{value:g}"
    return str(value)
