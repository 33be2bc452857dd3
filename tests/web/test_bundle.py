"""The editor is made of pinned packages, and what is shipped is what they make."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUNDLE = ROOT / "grader" / "web" / "bundle"
STATIC = ROOT / "grader" / "web" / "static"
LOCK = json.loads((BUNDLE / "package-lock.json").read_text(encoding="utf-8"))


def test_every_package_is_pinned() -> None:
    """To one version each, with its hash, from whatever registry is set up."""
    wanted = json.loads((BUNDLE / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    assert {name for name, version in wanted.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)} == set()
    assert "codemirror" not in wanted
    packages = {name: one for name, one in LOCK["packages"].items() if name}
    assert all(one["integrity"].startswith("sha512-") for one in packages.values())
    assert not any("resolved" in one for one in packages.values())
    for name, version in wanted.items():
        assert packages[f"node_modules/{name}"]["version"] == version


def test_each_licence_is_there() -> None:
    """Of what is in the editor, which its first line says."""
    text = (STATIC / "editor.LICENSES.txt").read_text(encoding="utf-8")
    named = re.findall(r"^(\S+) (\d\S+) \((\S+)\)$", text, re.MULTILINE)
    assert {licence for _name, _version, licence in named} == {"MIT"}
    assert {"@codemirror/view", "@codemirror/state", "@lezer/python", "style-mod"} <= {name for name, *_rest in named}
    for name, version, _licence in named:
        assert LOCK["packages"][f"node_modules/{name}"]["version"] == version
    assert "editor.LICENSES.txt" in (STATIC / "editor.js").read_text(encoding="utf-8").split("\n", 1)[0]


def test_nothing_is_loaded_from_elsewhere() -> None:
    """No file of the page names an address."""
    for file in STATIC.glob("*.*"):
        if file.suffix in {".js", ".css", ".html"}:
            found = re.findall(r"https?://[^\s\"'`)]+", file.read_text(encoding="utf-8"))
            assert [one for one in found if not one.startswith("http://www.w3.org/")] == [], file.name


@pytest.mark.skipif(
    shutil.which("node") is None or not (BUNDLE / "node_modules" / "esbuild").is_dir(),
    reason="node or the packages of grader/web/bundle are not there: `npm ci` in it brings them",
)
def test_what_is_shipped_is_what_they_make(tmp_path: Path) -> None:
    """Byte for byte."""
    subprocess.run(["node", BUNDLE / "build.mjs", tmp_path], check=True, cwd=BUNDLE, capture_output=True)
    for name in ("editor.js", "editor.LICENSES.txt"):
        assert (tmp_path / name).read_bytes() == (STATIC / name).read_bytes()
