"""The katas as a task of Inspect: `inspect eval docs/examples/inspect_katas.py --model ... -T katas=mha,masks`."""

import asyncio

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState, generate

from grader import api, catalog
from grader.evaluation.completions import unwrapped
from grader.evaluation.prompts import prompt


@task
def katas(katas: str = "") -> Task:
    """All katas, or those that are named, by commas."""
    chosen = katas.split(",") if katas else list(catalog.katas())
    samples = [Sample(id=name, input=prompt(catalog.find(name), "en")["prompt"]) for name in chosen]
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=passes())


@scorer(metrics=[accuracy(), stderr()])
def passes() -> Scorer:
    """1 for a pass, 0 for a failure; where the grader itself failed nothing is scored. One server grades all."""
    grader = api.Grader()

    async def score(state: TaskState, target: Target) -> Score:
        del target  # an answer is right by what it does
        source = unwrapped(state.output.completion, catalog.find(str(state.sample_id)).entry)
        report = await asyncio.to_thread(grader.grade, str(state.sample_id), source)
        if report["sandbox_gaps"]:
            raise RuntimeError(f"this machine runs no strangers' code: {report['sandbox_gaps']}")
        if report["verdict"] == "error":
            return Score.unscored(explanation=report["message"])
        causes = ", ".join(cause["title"] or cause["where"] for cause in report["causes"])
        return Score(value=int(report["verdict"] == "passed"), answer=source, explanation=causes or report["message"])

    return score
