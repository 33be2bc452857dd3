"""The katas as a task set of verifiers: `PYTHONPATH=. vf-eval verifiers_katas --env.taskset.katas mha`, in here."""

import asyncio
import functools

import verifiers.v1 as vf

from grader import api, catalog
from grader.evaluation.completions import unwrapped
from grader.evaluation.prompts import prompt

__all__ = ["Katas"]

grader = functools.cache(api.Grader)  # one server grades all


class Options(vf.TasksetConfig):
    """Which katas, by commas; all where none is named."""

    katas: str = ""


class WriteKata(vf.Task[vf.TaskData]):
    """Write one kata; its id is the name of the task."""

    @vf.reward
    async def passes(self, trace: vf.Trace) -> float:
        """1 for a pass, 0 for a failure. What the grader could not judge raises: missing data, never a reward of 0."""
        return await self._graded(unwrapped(trace.last_reply, catalog.find(self.data.name).entry))

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Whether the model answer passes: what `vf-validate` asks."""
        del runtime  # the grader has sandboxes of its own
        return await self._graded(catalog.find(self.data.name).reference()) == 1.0

    async def _graded(self, source: str) -> float:
        report = await asyncio.to_thread(grader().grade, self.data.name, source)
        if report["sandbox_gaps"] or report["verdict"] == "error":  # a machine that runs no strangers' code, or failed
            raise RuntimeError(report["message"] or f"the sandbox has gaps: {report['sandbox_gaps']}")
        return float(report["verdict"] == "passed")


class Katas(vf.Taskset[WriteKata, Options]):
    """The course, in its order."""

    def load(self) -> list[WriteKata]:
        """Make a task of each kata."""
        names = self.config.katas.split(",") if self.config.katas else list(catalog.katas())
        return [WriteKata(vf.TaskData(name=one, prompt=prompt(catalog.find(one), "en")["prompt"])) for one in names]
