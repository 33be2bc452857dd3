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
CANNED_TRACES = """
import asyncio
import verifiers.v1 as vf
from verifiers.v1.types import AssistantMessage
from grader import catalog
from verifiers_katas import Katas, Options

async def main():
    (task,) = Katas(Options(katas="masked-softmax"))
    right = catalog.find("masked-softmax").reference()
    values = []
    for text in [right, right.replace("scores", "-scores"), "def masked_softmax(:"]:
        said = vf.MessageNode(message=AssistantMessage(content=f"Here:\\n```python\\n{text}```"), sampled=True)
        agent = vf.AgentInfo(config=vf.AgentConfig())
        trace = vf.Trace(task=vf.TraceTask(type="WriteKata", data=task.data), agent=agent, nodes=[said])
        await task.score(trace)
        values.append(trace.reward)
    assert values == [1, 0, 0], values
    assert await task.validate(None)

asyncio.run(main())
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
    runs(CANNED, tmp_path, neutral_environment)


@pytest.mark.grades
@pytest.mark.timeout(300)
@pytest.mark.skipif(importlib.util.find_spec("verifiers") is None, reason="verifiers is not installed")
def test_verifiers_rewards_a_canned_model(tmp_path: Path, neutral_environment: dict[str, str]) -> None:
    """The same three answers have the rewards 1, 0 and 0, and the model answer is valid."""
    runs(CANNED_TRACES, tmp_path, neutral_environment)


def runs(program: str, folder: Path, environment: dict[str, str]) -> None:
    """Run a program beside the examples."""
    environment = environment | {"PYTHONPATH": f"{EXAMPLES}:{EXAMPLES.parent.parent}"}
    command = [sys.executable, "-c", program, folder]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
