"""Samples graded on the machines of a Ray cluster: `kata eval --engine ray`.

Scheduling, placement, transport and what happens when a node dies are Ray's: an actor for each node holds a server and
its prepared judges; where the node dies the actor starts on another one, and what it was asked is asked again. What is
here says only what an actor does, and keeps no more under way than there are threads for.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from importlib import import_module
from typing import Any, Final

from grader.client import session
from grader.errors import GraderFailed, KataError, UsageError
from grader.evaluation.grading import Options, refuse_gaps, rows
from grader.evaluation.results import Row
from grader.evaluation.samples import Sample
from grader.language import _, use
from grader.transport.request import Request

AHEAD: Final = 2
"""So many texts are on their way to a thread: one is graded, the next one waits beside it."""


class Node:
    """What an actor is: the grader of one machine."""

    def __init__(self, options: Options) -> None:
        """Start the server and look at the sandbox. The first question raises what is wrong with it."""
        use(options.lang)
        self._options = options
        self._session = session.Session()

    def rows(self, sample: Sample) -> tuple[list[Row], str]:
        """Grade one text; in the place of lines a sentence that ends the evaluation. Several threads ask at once."""
        try:
            return rows(self._ask, sample, self._options), ""
        except UsageError as error:
            return [], error.in_one_line()

    def gaps(self) -> str:
        """Return why this machine is refused, nothing where it is not."""
        try:
            refuse_gaps(self._session.probe(self._options.lang)["gaps"], self._options)
        except KataError as error:
            return error.in_one_line()
        return ""

    def _ask(self, request: Request) -> dict[str, Any]:
        try:
            return self._session.grade(request, many=True)
        except (GraderFailed, UsageError):
            raise
        except Exception as error:
            raise GraderFailed(f"{type(error).__name__}: {error}") from error


def graded(samples: Iterable[Sample], options: Options, *, address: str, jobs: int | None) -> Generator[list[Row]]:
    """Yield the lines of each text in the order of arrival. Raises UsageError without Ray, and for a refused machine.

    ``address`` is that of a running cluster; empty for the one that Ray finds, else for one of this machine alone.
    ``jobs``: so many at a time on each node; None for as many as it has processors.
    """
    ray = _ray()
    ray.init(address=address or None, log_to_driver=False, logging_level="ERROR", ignore_reinit_error=True)
    try:
        yield from _from_nodes(ray, samples, options, jobs)
    finally:
        ray.shutdown()


def _from_nodes(ray: Any, samples: Iterable[Sample], options: Options, jobs: int | None) -> Iterator[list[Row]]:
    affinity = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
    actors, threads = [], []
    for node in (node for node in ray.nodes() if node["Alive"]):
        at_once = jobs or max(1, int(node["Resources"].get("CPU", 1)))
        actor = (
            ray.remote(Node)
            .options(
                num_cpus=0,  # else an actor whose node has died would find no place on a busy one
                max_concurrency=at_once + 1,
                max_restarts=-1,
                max_task_retries=-1,
                scheduling_strategy=affinity(node_id=node["NodeID"], soft=True),
            )
            .remote(options)
        )
        actors.append(actor)
        threads += AHEAD * at_once * [actor]
    for refusal in ray.get([actor.gaps.remote() for actor in actors]):
        _refuse(refusal)
    places = import_module("ray.util").ActorPool(threads)
    for sample in samples:
        while not places.has_free():
            yield _taken(places)
        places.submit(lambda actor, one: actor.rows.remote(one), sample)
    while places.has_next():
        yield _taken(places)


def _taken(places: Any) -> list[Row]:
    found: list[Row]
    found, refusal = places.get_next_unordered()
    _refuse(refusal)
    return found


def _refuse(refusal: str) -> None:
    if refusal:
        raise UsageError(refusal)


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told what is graded here
    try:
        return import_module("ray")
    except ImportError as error:
        sentence = _("--engine ray needs Ray, which is not installed here.")
        raise UsageError(sentence, _("`pip install 'attention-kata[ray]'` brings it.")) from error
