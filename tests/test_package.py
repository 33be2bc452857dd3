"""What is released: a wheel, installed in a fresh virtual environment, that grades from any folder."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from grader import __version__, catalog
from grader.dev.answers import known_answers
from grader.sandbox import landlock

pytestmark = [pytest.mark.grades, pytest.mark.xdist_group("package")]

ROOT = Path(__file__).resolve().parent.parent
HOSTILE = Path(__file__).with_name("hostile")
REFUSALS = {
    "read_solutions": "your file imports the grader",
    "read_solutions_through_torch": "your file imports the grader",
    "import_solutions": "ModuleNotFoundError",
}
Kata = Callable[..., subprocess.CompletedProcess[str]]


def run(*command: str | Path, **more) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **more)


def build(target: str, source: Path, into: Path) -> Path:
    """Build a distribution without a network and return its file."""
    result = run(sys.executable, "-m", "hatchling", "build", "-t", target, "-d", into, cwd=source)
    assert result.returncode == 0, result.stderr
    (built,) = into.iterdir()
    return built


def hide_undeclared(packages: Path) -> None:
    """Let no borrowed module be found that the wheel does not depend on, directly or through others."""
    (own,) = packages.glob("attention_kata-*.dist-info")
    needed: set[str] = set()
    asked = [Requirement(text) for text in metadata.Distribution.at(own).requires or ()]
    while asked:
        one = asked.pop()
        name = canonicalize_name(one.name)
        if name not in needed and (one.marker is None or one.marker.evaluate({"extra": ""})):
            needed.add(name)
            asked += [Requirement(text) for text in metadata.distribution(name).requires or ()]
    owners = metadata.packages_distributions()
    hidden = [
        module
        for module, distributions in owners.items()
        if module != "grader" and needed.isdisjoint(map(canonicalize_name, distributions))
    ]
    (packages / "undeclared.pth").write_text(f"import sys; sys.modules.update(dict.fromkeys({hidden!r}))\n")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built from the source distribution as a packager would."""
    source = build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(source) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _path: member)  # from 3.11.4 on
        archive.extractall(unpacked)
    (folder,) = unpacked.iterdir()
    return build("wheel", folder, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def kata(wheel: Path, tmp_path_factory, fresh_python, move_in, neutral_environment) -> Kata:
    """The console script of a fresh virtual environment, started in a folder that is not the clone.

    It lies beside torch, as pip, pipx and uv install it.
    """
    python = fresh_python()
    packages = move_in(python)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    result = run(*pip, "install", "--no-deps", "--no-index", wheel)
    assert result.returncode == 0, result.stderr
    hide_undeclared(packages)
    folder = tmp_path_factory.mktemp("elsewhere")
    variables = neutral_environment | {"KATA_HOME": str(folder / "home"), "LANG": "C.UTF-8", "COLUMNS": "80"}

    def call(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        result = run(python.with_name("kata"), *arguments, cwd=folder, env=variables)
        assert result.returncode == code, result.stdout + result.stderr
        assert "Traceback" not in result.stdout + result.stderr
        return result

    where = run(python, "-c", "import grader; print(grader.__file__)", cwd=folder, env=variables).stdout
    assert Path(where.strip()).is_relative_to(packages), "the tests must not see the clone"
    call.folder = folder
    return call


def test_the_wheel_carries_every_kata_and_no_tests(wheel: Path) -> None:
    """Katas and solutions lie inside the package, each file of them; nothing else is at the top."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    carried = {name.removeprefix("grader/bundled/") for name in names if name.startswith("grader/bundled/")}
    expected = {
        file.relative_to(ROOT).as_posix()
        for folder in ("katas", "solutions")
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert carried == expected | {"docs/rules.md", "docs/rules.zh.md"}, "the rules are those of `kata help rules`"
    assert {name.split("/")[0] for name in names} == {"grader", f"attention_kata-{__version__}.dist-info"}


def test_the_wheel_carries_the_page(wheel: Path) -> None:
    """Its files and their licences, and nothing of what the editor is made of."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("grader/web/")}
    static = {path.name for path in (ROOT / "grader" / "web" / "static").iterdir()}
    assert {f"grader/web/static/{name}" for name in static} <= names
    assert "editor.LICENSES.txt" in static
    assert not {name for name in names if "bundle" in name or "node_modules" in name}


def test_the_page_needs_its_extra(kata: Kata) -> None:
    """Without it a sentence says what is missing."""
    assert 'pip install "attention-kata[web]"' in kata("web", code=2).stderr


def test_the_installed_command_knows_its_version_and_katas(kata: Kata) -> None:
    """The console script lists what the clone lists."""
    assert kata("--version").stdout == f"kata {__version__} (attention-kata)\n"
    listed = json.loads(kata("list", "--json").stdout)["katas"]
    assert [item["id"] for item in listed] == list(catalog.katas())


def test_the_installed_command_speaks_chinese(kata: Kata) -> None:
    """The catalogues are part of the wheel."""
    assert "开始一道题" in kata("--lang", "zh", "--help").stdout


def test_a_round_with_the_installed_command(kata: Kata) -> None:
    """Start, a friendly failure of the stub, a pass: as from the clone."""
    kata("start", "masked-softmax")
    answer = kata.folder / "workspace" / "masked_softmax.py"
    assert answer.read_text() == catalog.find("masked-softmax").stub()
    assert "nothing is written yet" in kata("grade", code=1).stdout
    answer.write_text(catalog.find("masked-softmax").reference())
    assert "masked-softmax passed" in kata("grade").stdout
    assert kata("solution").stdout.strip().startswith('"""')


@pytest.mark.one_of_many(of=3)
@pytest.mark.skipif(not landlock.abi(), reason="needs a kernel with Landlock")
@pytest.mark.parametrize("name", REFUSALS)
def test_who_imports_the_installed_grader_is_refused(kata: Kata, name: str) -> None:
    """The way to the solutions that begins with the grader's own modules ends there."""
    path = HOSTILE / f"{name}.py"
    report = json.loads(kata("grade", "masked-softmax", "--file", path, "--json", "--case", "core/one", code=1).stdout)
    messages = [case["message"] for case in report["cases"]] + [report["message"]]
    assert all(case["outcome"] == "failed" for case in report["cases"])
    assert any(re.search(REFUSALS[name], message) for message in messages), messages


LATE_IMPORTS = {
    "beam-search": ("rows_written_by_lists", "hypotheses_in_one_tensor"),
    "cross-attention": ("checkpointed",),
    "masked-softmax": ("compiled", "with_broadcast_shapes"),
    "static-cache": ("index_put_positions",),
    "translate-rnn": ("state_picked_by_length",),
}
"""Correct answers for which torch imports more of itself, or sympy."""


@pytest.mark.one_of_many
@pytest.mark.parametrize(
    ("name", "style"), [(name, style) for name, styles in LATE_IMPORTS.items() for style in styles]
)
def test_what_torch_imports_late_is_there(kata: Kata, name: str, style: str, tmp_path: Path) -> None:
    """Kata lies beside torch and sympy, and hides from an answer what is its own, not what is theirs."""
    of_kata = catalog.find(name)
    (known,) = (known for known in known_answers(of_kata) if (known.kind, known.name) == ("correct", style))
    answer = tmp_path / of_kata.filename
    answer.write_text(known.source)
    report = json.loads(kata("grade", name, "--file", answer, "--json").stdout)
    assert report["verdict"] == "passed"
    assert report["sandbox_gaps"] == []


LISTS_THE_SOLUTIONS = """
import pathlib, sys
import torch
root = pathlib.Path(torch.__file__).parent.parent
assert str(root) in sys.path, "torch does not lie beside kata"
def tried(action):
    try:
        return action()
    except (OSError, ImportError):
        return ""
found = [
    tried(lambda: list((root / "grader" / "bundled" / "solutions").iterdir())),
    tried(lambda: (root / "grader" / "bundled" / "solutions" / "masked-softmax" / "cases.py").read_text()),
    tried(lambda: (root / "grader" / "bundled" / "solutions" / "masked-softmax" / "reference.py").read_text()),
    tried(lambda: (root / "grader" / "judge" / "explain" / "mistakes.py").read_text()),
]
raise LookupError(f"found {found}" if any(found) else "nothing found")
"""


@pytest.mark.skipif(not landlock.abi(), reason="needs a kernel with Landlock")
def test_nothing_of_kata_is_read_beside_torch(kata: Kata, tmp_path: Path) -> None:
    """Neither solutions nor the judge's own files can be listed or read where all is in one folder."""
    answer = tmp_path / "masked_softmax.py"
    answer.write_text(LISTS_THE_SOLUTIONS)
    report = json.loads(kata("grade", "masked-softmax", "--file", answer, "--json", code=1).stdout)
    assert "LookupError: nothing found" in report["message"]


@pytest.mark.skipif(not landlock.abi(), reason="needs a kernel with Landlock")
def test_doctor_sees_no_gap(kata: Kata) -> None:
    """Every layer of the sandbox holds in the installed tool as well."""
    grading = json.loads(kata("doctor", "--json").stdout)["grading"]
    assert grading["layers"] == ["process", "rlimits", "landlock", "seccomp"]
    assert grading["gaps"] == []
