"""docs/examples, run with a canned model where their package is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "docs" / "examples"
CANNED = """
import sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from grader import catalog
from inspect_katas import katas

right = catalog.find("masked-softmax").reference()
said = [right, right.replace("scores", "-scores"), "def masked_softmax(:"]
outputs = [ModelOutput.from_content("mockllm/model", f"Here:\\n```python\\n{text}```") for text in said]
for output in outputs:
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else it wants to download a tokenizer
model = get_model("mockllm/model", custom_outputs=outputs)
(log,) = eval(katas("masked-softmax"), model=model, epochs=3, max_samples=1, display="none", log_dir=sys.argv[1])
assert log.status == "success", log.error.message
values = [sample.scores["passes"].value for sample in log.samples]
assert values == [1, 0, 0], values
"""


def test_they_compile() -> None:
    """They are Python, and short enough to read."""
    for path in EXAMPLES.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        compile(text, path.name, "exec")
        assert len(text.splitlines()) <= 50


@pytest.mark.grades
@pytest.mark.timeout(300)
@pytest.mark.skipif(importlib.util.find_spec("inspect_ai") is None, reason="inspect-ai is not installed")
def test_inspect_scores_a_canned_model(tmp_path: Path, neutral_environment: dict[str, str]) -> None:
    """A right answer, a wrong one and one that does not load have the scores 1, 0 and 0."""
    environment = neutral_environment | {"PYTHONPATH": f"{EXAMPLES}:{EXAMPLES.parent.parent}"}
    command = [sys.executable, "-c", CANNED, tmp_path]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
