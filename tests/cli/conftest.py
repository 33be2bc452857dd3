"""The tool in a folder of its own, with made-up katas, a made-up grader and a history of its own."""

import importlib.util
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner, Result

import grader
import grader.client
from grader import catalog
from grader.cli import main
from grader.watch import worker

DRIVER = Path(__file__).with_name("driver.py")


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"cli_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@dataclass
class Tool:
    """One learner's folder, and the tool that runs in it."""

    folder: Path
    home: Path
    content: Path
    driver: ModuleType

    @property
    def workspace(self) -> Path:
        """The learner's files."""
        return self.folder / "workspace"

    def __call__(self, *arguments: str, code: int = 0, **environment: str) -> Result:
        """Run a command in this process and check its exit code."""
        result = CliRunner().invoke(main, arguments, env=environment, prog_name="kata")
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result

    def process(self, *arguments: str, **more: Any) -> subprocess.Popen[bytes]:
        """Start a command as a process of its own."""
        environment = os.environ | more.pop("environment", {})
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | more
        return subprocess.Popen(
            [sys.executable, str(DRIVER), str(self.content), *arguments], env=environment, **streams
        )

    def answer(self, text: str, name: str = "second.py") -> Path:
        """Write an answer: its words tell the made-up grader what to do."""
        self.workspace.mkdir(exist_ok=True)
        path = self.workspace / name
        path.write_text(text, encoding="utf-8")
        return path

    def kept(self, kata: str = "second") -> list[str]:
        """Return the texts of the versions that were kept, oldest first."""
        return [path.read_text(encoding="utf-8") for path in sorted((self.workspace / ".attempts" / kata).glob("*.py"))]

    def passes(self, kata: str) -> None:
        """Begin a kata and pass it."""
        self("start", kata)
        self.answer("# pass\n", kata.replace("-", "_") + ".py")
        self("grade", kata)

    def days_later(self, days: int) -> None:
        """Let everything that was done have been done so many days earlier."""
        db = sqlite3.connect(self.home / "history.db")
        for table in ("starts", "attempts", "hints", "reveals", "ratings", "mocks", "mock_steps"):
            for number, at in db.execute(f"SELECT id, at FROM {table}").fetchall():
                moved = (datetime.fromisoformat(at) - timedelta(days=days)).isoformat(timespec="microseconds")
                db.execute(f"UPDATE {table} SET at = ? WHERE id = ?", (moved, number))
        db.commit()
        db.close()


@pytest.fixture(scope="session")
def driver() -> ModuleType:
    """Return the made-up parts."""
    return _load(DRIVER)


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, driver: ModuleType) -> Tool:
    """Return the tool in an empty folder, in English, eighty columns wide, without colour."""
    folder = tmp_path / "here"
    folder.mkdir()
    content = driver.write_content(tmp_path / "content")
    ours, locale, window = (
        ("KATA_WORKSPACE", "KATA_LANG", "KATA_DEBUG"),
        ("LC_ALL", "LC_MESSAGES"),
        ("COLUMNS", "LINES"),
    )
    for name in (*ours, *locale, *window, "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("KATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(Path(grader.__file__).parent.parent))
    monkeypatch.chdir(folder)
    monkeypatch.setattr(catalog, "content_root", lambda: content)
    module = driver.made_up_session()
    monkeypatch.setitem(sys.modules, "grader.client.session", module)
    monkeypatch.setattr(grader.client, "session", module, raising=False)
    monkeypatch.setattr(worker, "session", module)  # which has the real one where a test before this one imported it
    return Tool(folder, tmp_path / "home", content, driver)


@pytest.fixture
def terminal() -> Iterator[Callable[..., Any]]:
    """Return a function that starts a command in a terminal of its own; terminal.py says what it returns."""
    module = _load(Path(__file__).with_name("terminal.py"))
    with ExitStack() as opened:
        yield lambda *arguments, **more: opened.enter_context(module.Terminal(*arguments, **more))
