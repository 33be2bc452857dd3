"""Virtual environments for tests, and a real tool in one: its own processes, judge and sandbox, with made-up katas.

The katas of the course change; what answers to `double` give does not.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grader import catalog
from grader.client.session import Session
from grader.server import launch
from grader.text import clean

ROOT = Path(__file__).resolve().parent.parent
MADE_UP = Path(__file__).with_name("made_up")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let more be graded than a change needs."""
    parser.addoption("--seeds", type=int, metavar="N", help="grade N debug rounds, dealt out over the katas")
    parser.addoption("--pairs", type=int, metavar="N", help="grade N pairs of mistakes of each kata")
    parser.addoption("--every", action="store_true", help="grade all that today's share leaves for another day")


SHARES = 48
"""Of the tests marked `one_of_many`, each day has another one in so many, or in as many as the mark says."""
KATAS_A_DAY = 12
"""Each day's share is that of one kata in so many: a kata costs a judge that prepares, however few its answers are."""
EVERY_DAY = ("masked-softmax", "mha", "sdpa")
"""Katas of so many tests of the grader itself that their judges prepare each day: their answers come one by one."""
SHARE = "KATA_TESTS_SHARE"


def pytest_configure() -> None:
    """Settle which share is today's before there are workers, which have to agree on it."""
    os.environ.setdefault(SHARE, str(datetime.now(tz=UTC).toordinal() % SHARES))


def pytest_report_header(config: pytest.Config) -> str:
    """Say what is left for another day."""
    if config.getoption("every"):
        return "tests that are one of many: all"
    return f"tests that are one of many: share {int(os.environ[SHARE]) + 1} of {SHARES}; `make test-all` does all"


def is_todays(item: pytest.Item, katas: list[str], day: int) -> bool:
    """Whether a test is done on a day: by its name, so that a new one moves no other, and by its kata where it has one.

    Within `SHARES` days each test has had its own.
    """
    mark = item.get_closest_marker("one_of_many")
    if mark is None:
        return True
    shares, number = mark.kwargs.get("of", SHARES), zlib.crc32(item.nodeid.encode())
    assert SHARES % shares == 0, "every share has its day"
    group = item.get_closest_marker("xdist_group")
    if group is None or group.args[0] not in katas or group.args[0] in EVERY_DAY or shares % KATAS_A_DAY:
        return number % shares == day % shares
    is_katas_day = katas.index(group.args[0]) % KATAS_A_DAY == day % KATAS_A_DAY
    shares //= KATAS_A_DAY
    return is_katas_day and number % shares == day // KATAS_A_DAY % shares


GRADES = {"session", "real", "served", "fresh_python"}
"""Fixtures of tests that grade: processes with torch in them, a server, a tool of its own."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what grades, so that `make test-fast` leaves it out; other tests that do so say it themselves.

    What is one of many waits for its day, unless it was asked for by name.
    """
    for item in items:
        if isinstance(item, pytest.Function) and GRADES & set(item.fixturenames):
            item.add_marker("grades")
    asked = any("::" in argument for argument in config.args) or config.getoption("keyword")
    if not (config.getoption("every") or asked):
        katas, day = list(catalog.katas()), int(os.environ[SHARE])
        chosen = [(item, is_todays(item, katas, day)) for item in items]
        config.hook.pytest_deselected(items=[item for item, today in chosen if not today])
        items[:] = [item for item, today in chosen if today]


@pytest.fixture(autouse=True)
def _grades_only_where_it_says_so(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test that is not marked `grades` fail when it starts a server."""
    if request.node.get_closest_marker("grades") is None:
        monkeypatch.setattr(launch, "spawn", _refuse_to_grade)


def _refuse_to_grade(*_arguments: Any, **_more: Any) -> None:
    pytest.fail("a test that starts a server is marked `grades`")


@pytest.fixture(scope="session")
def session() -> Iterator[Session]:
    """One server for all gradings of a worker that need no other."""
    with Session() as session:
        yield session


def pytest_runtest_setup() -> None:
    """Let torch work in one thread: as many tests run at once as there are processors, and threads that wait spin."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


# What may be English in text for a Chinese reader; each is taken out before sentences are looked for.
CODE = (
    r"(?s)```.*?```|`[^`\n]*`",
    r"(?m)^ *(\$ )?kata( [\w=./-]+)+.*$",  # examples of commands, and what click calls their arguments
    r"\bkata( [a-z][\w-]*)+",
    r"\b\w*(Error|Exception|Exit|Interrupt|Warning)\b: [^\u4e00-\u9fff]*",  # what Python says
    r"(?m)^\s*> .*$",  # the learner's line
    r"\b[\w.]+\([^\u4e00-\u9fff]*\)",  # calls
)
SENTENCE = re.compile(r"(?<![\w./=-])[A-Za-z][a-z']+(?:[ ,;:]+[A-Za-z][a-z']+){2,}(?![\w/=(-])")


@dataclass
class RealTool:
    """`kata` as processes, started in a folder of its own."""

    python: Path
    folder: Path
    served_from: Path | None = None
    """The temporary folder of a server that stays, where commands shall share one."""

    @property
    def home(self) -> Path:
        """The folder of the history."""
        return self.folder / "home"

    @property
    def scratch(self) -> Path:
        """The temporary folder of every process of this tool: what is left behind shows here."""
        return self.served_from or self.folder / "tmp"

    @property
    def answer(self) -> Path:
        """The answer to `double`."""
        return self.folder / "workspace" / "double.py"

    def write(self, body: str) -> Path:
        """Write the answer to `double`: a function whose body this is."""
        self.answer.parent.mkdir(exist_ok=True)
        self.answer.write_text("def double(x):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n")
        return self.answer

    def process(self, *arguments: str, **more: Any) -> subprocess.Popen[str]:
        """Start a command."""
        here = {"KATA_HOME": str(self.home), "TMPDIR": str(self.scratch), "LANG": "C.UTF-8", "COLUMNS": "80"}
        here |= {"KATA_SERVER": "on"} if self.served_from else {}
        environment = _neutral_environment() | here | more.pop("environment", {})
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
        command = [str(self.python), "-m", "grader", *arguments]
        return subprocess.Popen(command, cwd=self.folder, env=environment, text=True, **streams)

    def __call__(self, *arguments: str, code: int = 0, **more: Any) -> subprocess.CompletedProcess[str]:
        """Run a command to its end and check its exit code."""
        process = self.process(*arguments, **more)
        output, error = process.communicate(timeout=100)
        assert process.returncode == code, f"ended with {process.returncode}\n{output}\n{error}"
        assert "Traceback" not in output + error
        return subprocess.CompletedProcess(arguments, code, output, error)


def _neutral_environment() -> dict[str, str]:
    ours = ("PYTHON", "KATA_", "LC_", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {"KATA_SERVER": "off"}  # a server that outlives its test is for the tests of servers


def _borrow(python: Path) -> Path:
    """Let an environment use the packages of this one, so that torch is not installed again; returns its own folder.

    A folder that a `.pth` file names has no `.pth` files of its own read: an editable install of the clone stays out.
    """
    (packages,) = python.parent.parent.glob("lib/python*/site-packages")
    borrowed = [entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))]
    (packages / "borrowed.pth").write_text("\n".join(borrowed) + "\n")
    return packages


def _move_in(python: Path) -> Path:
    """Put the packages of this environment into another one, as if they were installed there; returns its folder.

    They are hard links where the file system has them. What belongs to kata stays out, and so do `.pth` files.
    """
    (packages,) = python.parent.parent.glob("lib/python*/site-packages")
    for folder in (Path(entry) for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))):
        for entry in folder.iterdir():
            if entry.name == "grader" or entry.name.startswith(("kata-", "attention_kata-")) or entry.suffix == ".pth":
                continue
            if (packages / entry.name).exists():
                continue
            if entry.is_dir():
                shutil.copytree(entry, packages / entry.name, copy_function=_link, ignore_dangling_symlinks=True)
            else:
                _link(entry, packages / entry.name)
    return packages


def _link(source: str | Path, target: str | Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_is_heard() -> None:
    """Let processes that tests start react to SIGINT: a shell starts what runs in the background with it ignored."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def fresh_python(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Return a function that makes a virtual environment without any package and returns its interpreter."""

    def make() -> Path:
        folder = tmp_path_factory.mktemp("environment")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        return folder / "bin" / "python"

    return make


@pytest.fixture(scope="session")
def borrow() -> Callable[[Path], Path]:
    """Return the function that lends a fresh environment the packages of this one."""
    return _borrow


@pytest.fixture(scope="session")
def move_in() -> Callable[[Path], Path]:
    """Return the function that puts the packages of this environment into a fresh one."""
    return _move_in


@pytest.fixture(scope="session")
def neutral_environment() -> dict[str, str]:
    """Variables without any that change what Python or kata do."""
    return _neutral_environment()


@pytest.fixture(scope="session")
def english() -> Callable[[str], list[str]]:
    """Return a function that finds what is English in text for a Chinese reader: three words in a row, and no code."""

    def find(text: str) -> list[str]:
        text = clean(text, 1 << 20)
        for code in CODE:
            text = re.sub(code, "·", text)
        return SENTENCE.findall(text)

    return find


@pytest.fixture(scope="session")
def python_with_made_up_katas(fresh_python: Callable[[], Path]) -> Path:
    """The interpreter of an environment whose kata has the made-up katas instead of the course."""
    python = fresh_python()
    package = _borrow(python) / "grader"
    shutil.copytree(ROOT / "grader", package, ignore=shutil.ignore_patterns("__pycache__", "bundled"))
    shutil.copytree(MADE_UP, package / "bundled")
    return python


@pytest.fixture(scope="session")
def served_from(python_with_made_up_katas: Path) -> Iterator[Path]:
    """The temporary folder of a server that stays for all commands of a worker that need none of their own."""
    with tempfile.TemporaryDirectory(prefix="kata-test-", dir="/tmp") as folder:  # a socket's name must be short
        yield Path(folder)
        RealTool(python_with_made_up_katas, Path(folder), Path(folder))("server", "stop")


@pytest.fixture
def served(python_with_made_up_katas: Path, tmp_path: Path, served_from: Path) -> RealTool:
    """The tool in an empty folder, with the server that other such tests have left: a group of tests, `served`."""
    return RealTool(python_with_made_up_katas, tmp_path, served_from)


@pytest.fixture
def real(python_with_made_up_katas: Path, tmp_path: Path) -> RealTool:
    """The tool in an empty folder."""
    tool = RealTool(python_with_made_up_katas, tmp_path)
    tool.scratch.mkdir()
    return tool
