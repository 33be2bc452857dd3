"""docs/notebook.ipynb, executed as its reader executes it: `make test-notebook` installs what that needs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs the group `notebook`: make test-notebook")
nbclient = pytest.importorskip("nbclient", reason="needs the group `notebook`: make test-notebook")
pytest.importorskip("ipykernel", reason="needs the group `notebook`: make test-notebook")

NOTEBOOK = Path(__file__).resolve().parent.parent / "docs" / "notebook.ipynb"
# The client's and the kernel's own.
pytestmark = [pytest.mark.grades, pytest.mark.timeout(300), pytest.mark.filterwarnings("ignore")]


def test_it_is_kept_without_results() -> None:
    """What a reader sees is what their own machine says."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in notebook.cells)


def test_it_runs_and_says_what_it_promises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell ends without an error: a mistake by its name, a hint, a helper that is missing, a pass."""
    for name, value in {"KATA_HOME": tmp_path / "home", "KATA_SERVER": "off", "KATA_LANG": "en"}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.delenv("KATA_WORKSPACE", raising=False)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(NOTEBOOK.parents[1]), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=200, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = [output["data"] for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    assert shown[0]["text/markdown"].startswith("# ")
    verdicts = [data for data in shown if "text/html" in data]
    assert [data["text/plain"].split()[0] for data in verdicts] == ["✗", "✗", "✓"]
    assert "<section>" in verdicts[0]["text/html"]
    assert "divided is defined in another cell" in verdicts[1]["text/html"]
    assert "split-heads passed" in verdicts[2]["text/html"]
    answer = (tmp_path / "workspace" / "split_heads.py").read_text(encoding="utf-8")
    assert answer.startswith("from torch import Tensor")
    assert len(list((tmp_path / "workspace" / ".attempts" / "split-heads").iterdir())) == 3
