"""Samples of a model: prompts, eval."""

import json
import re
import sys
from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from grader import catalog
from grader.cli.attempt import graded
from grader.cli.base import App, KataCommand, examples, kata_names
from grader.cli.guard import refuse_any
from grader.cli.many import cores
from grader.errors import UsageError
from grader.language import _
from grader.text import clean
from grader.transport.request import fresh_seed

if TYPE_CHECKING:
    from grader.evaluation.grading import Options
    from grader.evaluation.results import Results, Row
    from grader.evaluation.samples import Sample, Samples
    from grader.evaluation.score import Tally

    Tallies = dict[str, Tally]

EXIT_MISSING = 3
_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")
_WHOLE = re.compile(r"[1-9]\d{0,5}")


@click.command(
    "prompts",
    cls=KataCommand,
    short_help="Print the tasks for a model, as JSON lines.",
    epilog=examples("kata prompts > tasks.jsonl", "kata --lang zh prompts mha"),
)
@click.argument("katas", nargs=-1, metavar="[KATA]...", shell_complete=kata_names)
@click.pass_obj
def prompts_command(app: App, katas: tuple[str, ...]) -> None:
    """Print what a model is asked, a task a line: task, stub and rules, by themselves and as one prompt.

    Nothing in it names a mistake or shows a solution: it is what a learner has before the first answer.
    """
    from grader.evaluation.prompts import prompt  # noqa: PLC0415 - seldom

    for kata in [catalog.find(name) for name in katas] or list(catalog.katas().values()):
        click.echo(json.dumps(prompt(kata, app.lang), ensure_ascii=not _says_chinese()))


def shard_of(_context: click.Context, _parameter: click.Parameter, text: str) -> tuple[int, int]:
    """Return which of how many shards is meant."""
    found = _SHARD.fullmatch(text)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise click.BadParameter(_("'{text}' is no shard such as 3/16.").format(text=clean(text, 80)))
    return int(found[1]), int(found[2])


def ks_of(_context: click.Context, _parameter: click.Parameter, text: str) -> list[int]:
    """Return for which k pass@k is wanted."""
    words = text.replace(" ", "").split(",")
    if not all(_WHOLE.fullmatch(word) for word in words):
        raise click.BadParameter(_("'{text}' is no list of numbers such as 1,5.").format(text=clean(text, 80)))
    return sorted({int(word) for word in words})


@dataclass(frozen=True, slots=True)
class Engine:
    """Where samples are graded, which of them, and how many at a time."""

    name: str
    address: str
    shard: tuple[int, int]
    jobs: int | None


@click.command(
    "eval",
    cls=KataCommand,
    short_help="Grade the samples of a model.",
    epilog=examples(
        "kata eval samples.jsonl -o results.jsonl --k 1,5",
        "kata eval samples.jsonl -o results.jsonl --resume",
        "kata eval samples.jsonl -o results-3.jsonl --shard 3/16 --seed 7",
        "kata eval samples.jsonl -o out.jsonl --engine ray --address 10.0.0.1:6379",
        "kata eval --summary results-*.jsonl --k 1,5",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path, dir_okay=False))
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Where the results go.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="So many answers at a time; else one for each core.")
@click.option("--k", "ks", default="1", metavar="LIST", callback=ks_of, help="Print pass@k for these k, such as 1,5.")
@click.option("--resume", is_flag=True, help="Go on where an earlier command has ended: nothing is graded twice.")
@click.option(
    "--shard", default="1/1", metavar="I/N", callback=shard_of, help="Grade this part only: the I-th of N equal ones."
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="The inputs of an earlier evaluation.")
@click.option(
    "--trust", is_flag=True, help="Grade although the sandbox has gaps here; you trust who wrote the samples."
)
@click.option("--engine", type=click.Choice(["local", "ray"]), default="local", help="Grade here, or on a Ray cluster.")
@click.option("--address", default="", metavar="HOST:PORT", help="The Ray cluster; else the one that Ray finds.")
@click.option("--summary", "only_summary", is_flag=True, help="The files are results: sum them up, grade nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.pass_context
def eval_command(
    context: click.Context,
    *,
    files: tuple[Path, ...],
    output: Path | None,
    jobs: int | None,
    ks: list[int],
    resume: bool,
    shard: tuple[int, int],
    seed: int | None,
    trust: bool,
    engine: str,
    address: str,
    only_summary: bool,
    as_json: bool,
) -> None:
    """Grade samples and print how often they pass.

    FILE has a line {"task_id": "mha", "completion": "..."} for each sample; Markdown around the code is taken off. A
    line of results is written for each as soon as it is graded.

    Ends with 0 when all samples were graded, whatever came of them, 2 for wrong use, 3 when the grader itself failed
    on some: these have no reward, and --resume grades them again.
    """
    app: App = context.obj
    if only_summary:
        if output or resume or shard != (1, 1) or seed is not None or jobs or trust or engine != "local" or address:
            raise click.UsageError(_("--summary takes results, and of the other options --k and --json alone."))
        from grader.evaluation.results import tallies  # noqa: PLC0415 - seldom

        context.exit(_sum_up(tallies(files), ks, as_json=as_json))
    if address and engine != "ray":
        raise click.UsageError(_("--address goes with --engine ray."))
    if output is None or len(files) > 1:
        raise click.UsageError(_("One FILE of samples is graded, and -o names the file for the results."))
    refuse_any(app)
    from grader.evaluation.grading import Options  # noqa: PLC0415 - seldom
    from grader.evaluation.results import Results, tallies  # noqa: PLC0415 - likewise
    from grader.evaluation.samples import Samples  # noqa: PLC0415 - likewise

    samples = Samples(files[0])
    with Results(output, samples, resume=resume) as results:
        if seed is not None and results.seed not in (None, seed):
            sentence = _("{path} was begun with the seed {seed}.")
            raise UsageError(sentence.format(path=output, seed=results.seed), _("Leave --seed away: it is taken up."))
        known = results.seed if seed is None else seed
        options = Options(fresh_seed() if known is None else known, trust, app.lang)
        _grade_all(samples, results, options, Engine(engine, address, shard, jobs))
    context.exit(_sum_up(tallies([output]), ks, as_json=as_json))


def _grade_all(samples: "Samples", results: "Results", options: "Options", engine: Engine) -> None:
    """Grade what has no line yet, equal texts once."""
    left = sum(len(_left(results, kata, numbers)) for kata, numbers in samples.grouped(engine.shard))
    if not left:
        return
    with samples.path.open("rb") as file:
        wanted = _wanted(samples, results, file, engine.shard)
        if engine.name == "ray":
            from grader.evaluation.cluster import graded  # noqa: PLC0415 - seldom

            found = graded(wanted, options, address=engine.address, jobs=engine.jobs)
        else:
            found = _here(wanted, options, engine.jobs or cores())
        from grader.show.many import Bar  # noqa: PLC0415 - rich is for people

        with closing(found), Bar(left) as bar:
            for rows in found:
                for row in rows:
                    results.add(row)
                    bar.advance(row)


def _here(wanted: "Iterable[Sample]", options: "Options", jobs: int) -> "Generator[list[Row]]":
    """Grade on this machine."""
    from grader.client import session  # noqa: PLC0415 - there is something to grade
    from grader.evaluation.grading import refuse_gaps, rows  # noqa: PLC0415 - likewise

    with session.open() as grader:
        refuse_gaps(grader.probe(options.lang)["gaps"], options)
        from grader.pool import as_completed  # noqa: PLC0415 - while torch is loading

        ask = partial(graded, grader, many=True)
        found = as_completed(wanted, lambda sample: rows(ask, sample, options), jobs=jobs, stop=grader.cancel)
        with closing(found):
            for _number, one in found:
                yield one


def _wanted(samples: "Samples", results: "Results", file: BinaryIO, shard: tuple[int, int]) -> "Generator[Sample]":
    for kata, numbers in samples.grouped(shard):
        if left := _left(results, kata, numbers):
            yield samples.read(file, kata, left)


def _left(results: "Results", kata: str, numbers: list[int]) -> list[int]:
    return [number for number in numbers if not results.is_done(kata, number)]


def _sum_up(found: "Tallies", ks: list[int], *, as_json: bool) -> int:
    from grader.evaluation.score import estimate, pass_at  # noqa: PLC0415 - seldom

    estimates = [estimate(k, found.values()) for k in ks]
    if as_json:
        tasks = {
            task: {"graded": tally.graded, "passed": tally.passed, "missing": tally.missing}
            | {f"pass@{k}": pass_at(k, tally.graded, tally.passed) for k in ks}
            for task, tally in found.items()
        }
        overall = {
            f"pass@{one.k}": {"mean": one.mean, "interval": [one.low, one.high], "tasks": one.tasks}
            for one in estimates
        }
        click.echo(json.dumps({"tasks": tasks, "overall": overall}, indent=2))
    else:
        from grader.show.evaluation import summary  # noqa: PLC0415 - rich is for people

        summary(found, estimates)
    return EXIT_MISSING if any(tally.missing for tally in found.values()) else 0


def _says_chinese() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
