"""What containers are made of: the CPU build of torch, an ordinary user, a look at the sandbox in the end."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def steps(path: str) -> list[tuple[str, str]]:
    """Return the instructions of a Containerfile, each on one line."""
    text = re.sub(r"\\\n\s*", " ", (ROOT / path).read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [tuple(line.split(maxsplit=1)) for line in lines]


@pytest.mark.parametrize("path", ["Containerfile", ".devcontainer/Containerfile"])
def test_nobody_works_as_root(path: str) -> None:
    """The last user is the one whom the file has made, and python is one that kata supports."""
    found = steps(path)
    users = [value for name, value in found if name == "USER"]
    assert users[-1] == "learner"
    assert any(name == "RUN" and "useradd" in value and value.endswith("learner") for name, value in found)
    minor = int(re.fullmatch(r"python:3\.(\d+)(-slim)?", dict(found)["FROM"])[1])
    assert f"Programming Language :: Python :: 3.{minor}" in PROJECT["project"]["classifiers"]


def test_a_class_gets_what_the_project_is_tested_with() -> None:
    """The build of torch without CUDA in the version of constraints.txt; its build ends in `kata doctor`."""
    found = steps("Containerfile")
    (install,) = (value for name, value in found if "uv tool install" in value)
    assert "--torch-backend cpu" in install
    assert "-c /src/constraints.txt" in install
    names = [name for name, _value in found]
    assert [value for name, value in found if name == "RUN"][-1] == "kata doctor"
    assert names.index("USER") < len(names) - 1 - names[::-1].index("RUN")
    assert '["kata"]' in dict(found)["ENTRYPOINT"]
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert {".git", ".venv", "workspace"} <= set(ignored)


def test_the_devcontainer_sets_up_a_clone() -> None:
    """Without root and without privileges, with what the tests need, and a look at the sandbox in the end."""
    document = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert (ROOT / ".devcontainer" / document["build"]["dockerfile"]).is_file()
    assert document["remoteUser"] == "learner"
    assert set(document["runArgs"]) == {"--cap-drop=ALL", "--security-opt=no-new-privileges"}
    commands = [command.strip() for command in document["postCreateCommand"].split("&&")]
    assert "--torch-backend cpu" in commands[1]
    assert "--group dev -e ." in commands[1]
    assert commands[-1] == ".venv/bin/kata doctor"


def test_the_names() -> None:
    """The distribution has a name of its own, the command keeps its own, and the install lines say so."""
    assert PROJECT["project"]["name"] == "attention-kata"
    assert PROJECT["project"]["scripts"] == {"kata": "grader.cli:main"}
    for page in ("README.md", "README.zh.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert "uv tool install --torch-backend cpu attention-kata" in text
        assert "pipx install attention-kata" in text
