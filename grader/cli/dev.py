"""For authors of katas and of the tool: dev new, dev check, dev mutate, dev house."""

import json
import re
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import click

from grader import catalog
from grader.cli.base import App, KataCommand, examples, kata_names
from grader.cli.help import SpokenGroup
from grader.errors import UsageError
from grader.language import _

KINDS = ("reference", "correct", "mistake", "wrong")
SECOND_PATHS = ("second-path", "ignored")
MUTANTS = (*SECOND_PATHS, "general")
READMES = {"en": "README.md", "zh": "README.zh.md"}


@click.group(
    "dev",
    cls=SpokenGroup,
    short_help="For authors of katas.",
    epilog=examples("kata dev new rms-norm", "kata dev check mha"),
)
def dev_command() -> None:
    """Tools for writing katas; docs/writing-a-kata.md says how they are made."""


@dev_command.command(
    "check",
    cls=KataCommand,
    short_help="Hold a kata to the rules.",
    epilog=examples("kata dev check mha", "kata dev check --all", "kata dev check --all --each correct --seeds 5"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--all", "every", is_flag=True, help="All katas; writes katas and score into the READMEs.")
@click.option(
    "--seeds", type=click.IntRange(1), default=20, show_default=True, help="So many seeds for each reference."
)
@click.option(
    "--each",
    type=click.Choice(KINDS),
    multiple=True,
    help="Grade the answers of this kind alone, with each seed; the READMEs are left alone.",
)
@click.option("--first-seed", type=click.IntRange(0), default=0, show_default=True, help="The first of the seeds.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="So many katas at a time.")
@click.pass_obj
def check_command(
    app: App, kata: str | None, every: bool, seeds: int, each: tuple[str, ...], first_seed: int, jobs: int
) -> None:
    """Hold KATA to the rules.

    Stub, reference, bank of mistakes, correct and wrong answers, texts and shape comments.
    """
    from grader.client import session  # noqa: PLC0415 - starts torch

    if not every and kata is None:
        raise UsageError(_("Name a kata, or use --all."))
    chosen = list(catalog.katas().values()) if every else [app.kata(kata)]
    with session.open() as opened:
        from grader.dev import check  # noqa: PLC0415 - while the server starts
        from grader.pool import as_completed  # noqa: PLC0415 - likewise

        def held(one: catalog.Kata) -> check.Score:
            drawn = range(first_seed, first_seed + seeds)
            return check.check(one, opened, drawn, partial(_tell, f"{one.id}: "), each)

        scores: dict[int, check.Score] = {}
        with closing(as_completed(chosen, held, jobs=jobs, stop=opened.cancel)) as results:
            for number, score in results:
                scores[number] = score
                _tell("")
                for problem in score.problems:
                    click.echo(f"{score.kata}: {problem}")
    in_order = [scores[number] for number in sorted(scores)]
    if any(one.is_graded for one in in_order):
        click.echo(check.table(in_order))
    if every and not each:
        for lang, readme in READMES.items():
            _write(readme, "score", check.table(in_order, lang))
            _write(readme, "katas", check.course(chosen, lang))
    if any(one.problems for one in in_order):
        raise click.exceptions.Exit(1)


@dev_command.command(
    "mutate",
    cls=KataCommand,
    short_help="Grade mutants of a kata's answers.",
    epilog=examples("kata dev mutate mha", "kata dev mutate mha --only layout", "kata dev mutate --all --sample 5"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--all", "every", is_flag=True, help="All katas.")
@click.option(
    "--kind",
    type=click.Choice(MUTANTS),
    multiple=True,
    help="Mutants of this kind; second paths otherwise, with masks ignored too.",
)
@click.option("--sample", type=click.IntRange(1), help="So many of each kata, drawn; README and docs are left alone.")
@click.option("--only", default="", metavar="TEXT", help="Those with TEXT in their names.")
@click.option("--seed", type=click.IntRange(0), default=2017, show_default=True, help="The seed of the inputs.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="So many katas at a time.")
@click.pass_obj
def mutate_command(
    app: App,
    kata: str | None,
    every: bool,
    kind: tuple[str, ...],
    sample: int | None,
    only: str,
    seed: int,
    jobs: int,
) -> None:
    """Grade answers to KATA that are wrong in one place, and name those that pass.

    A second path is wrong at one level of one factor, or ignores a mask there: each that passes is a level that no
    case visits, or none with a mask. What was rejected is written into docs/proof.md and the READMEs.
    """
    from grader.client import session  # noqa: PLC0415 - starts torch

    if not every and kata is None:
        raise UsageError(_("Name a kata, or use --all."))
    chosen = list(catalog.katas().values()) if every else [app.kata(kata)]
    with session.open() as opened:
        from grader.dev.mutants import grading  # noqa: PLC0415 - while the server starts
        from grader.pool import as_completed  # noqa: PLC0415 - likewise

        kinds: Any = kind or SECOND_PATHS

        def mutated(one: catalog.Kata) -> grading.Tally:
            tell = partial(_tell, f"{one.id}: ")
            return grading.grade(one, opened, kinds=kinds, sample=sample, seed=seed, only=only, on_step=tell)

        tallies: dict[int, grading.Tally] = {}
        with closing(as_completed(chosen, mutated, jobs=jobs, stop=opened.cancel)) as results:
            for number, tally in results:
                tallies[number] = tally
                _tell("")
                for line in tally.lines():
                    click.echo(line)
    in_order = [tallies[number] for number in sorted(tallies)]
    rows = grading.rows_of(in_order)
    click.echo(grading.table(rows))
    proof = catalog.content_root() / "docs" / "proof.md"
    if proof.is_file() and not (sample or only) and set(kinds) <= set(SECOND_PATHS):
        rows = grading.together(rows, proof.read_text(encoding="utf-8"), kinds)
        _write("docs/proof.md", "mutants", grading.table(rows))
        for lang, readme in READMES.items():
            _write(readme, "mutants", grading.sentence(rows, lang))
    if any(one.problems or one.passed for one in in_order):
        raise click.exceptions.Exit(1)


@dev_command.command(
    "house",
    cls=KataCommand,
    short_help="Measure the tool's own code.",
    epilog=examples("kata dev house", "kata dev house --json"),
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, with what was counted.")
def house_command(as_json: bool) -> None:
    """Measure what one has to know and to carry in order to live in this code; for a clone."""
    from grader.dev import house  # noqa: PLC0415 - only developers have what it needs

    rows = house.measured()
    click.echo(json.dumps(house.document(rows), indent=2) if as_json else house.table(rows))


@dev_command.command(
    "new",
    cls=KataCommand,
    short_help="Write the files of a new kata.",
    epilog=examples("kata dev new rms-norm", 'kata dev new rms-norm --title "RMS normalisation" --track 4'),
)
@click.argument("kata")
@click.option("--title", help="Its title in English; that of the id where it is left out.")
@click.option("--track", type=click.IntRange(1, max(catalog.TRACKS)), default=1, show_default=True, help="Its track.")
def new_command(kata: str, title: str | None, track: int) -> None:
    """Write all files of a new KATA, with what is left to do in them as TODO.

    `kata dev check` tells, file by file, what that is; nothing else has to be edited.
    """
    from grader.dev import new  # noqa: PLC0415 - for authors

    for path in new.write(kata, title or kata.replace("-", " ").capitalize(), track):
        click.echo(path.relative_to(catalog.content_root()))
    from grader.dev import check  # noqa: PLC0415 - torch, which a refusal does not wait for

    for lang, readme in READMES.items():
        if _write(readme, "katas", check.course(catalog.katas().values(), lang)):
            click.echo(readme)
    click.echo(_("`kata dev check {kata}` tells what is left to do.").format(kata=kata))


def _tell(kata: str, step: str = "") -> None:
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{(kata + step)[:78]}", nl=False, err=True)


def _write(filename: str, name: str, text_there: str) -> bool:
    """Put a table where a README of a clone has a place for it; tell whether there is such a file."""
    readme: Path = catalog.content_root() / filename
    if not readme.is_file():
        return False
    text = readme.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    place: Any = re.compile(f"{begin}.*?{end}", re.DOTALL)
    readme.write_text(place.sub(lambda _match: f"{begin}\n{text_there}\n{end}", text), encoding="utf-8")
    return True
