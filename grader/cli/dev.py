"""For authors of katas: dev check."""

import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from grader import catalog
from grader.cli.base import App, KataCommand, examples, kata_names
from grader.cli.help import SpokenGroup
from grader.errors import UsageError
from grader.language import _

READMES = {"en": "README.md", "zh": "README.zh.md"}


@click.group("dev", cls=SpokenGroup, short_help="For authors of katas.", epilog=examples("kata dev check mha"))
def dev_command() -> None:
    """Tools for writing katas; docs/writing-a-kata.md says how they are made."""


@dev_command.command(
    "check",
    cls=KataCommand,
    short_help="Hold a kata to the rules.",
    epilog=examples("kata dev check mha", "kata dev check --all"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--all", "every", is_flag=True, help="All katas; writes katas and score into the READMEs.")
@click.option("--seeds", type=click.IntRange(1), default=20, show_default=True, help="Seeds for each reference.")
@click.pass_obj
def check_command(app: App, kata: str | None, every: bool, seeds: int) -> None:
    """Hold KATA to the rules.

    Stub, reference, bank of mistakes, correct and wrong answers, texts and shape comments.
    """
    from grader.client import session  # noqa: PLC0415 - starts torch

    if not every and kata is None:
        raise UsageError(_("Name a kata, or use --all."))
    with session.open() as opened:
        from grader.dev import check  # noqa: PLC0415 - while the server starts

        chosen = list(catalog.katas().values()) if every else [app.kata(kata)]
        scores = []
        for one in chosen:
            scores.append(check.check(one, opened, seeds, partial(_tell, f"{one.id}: ")))
            _tell("")
            for problem in scores[-1].problems:
                click.echo(f"{one.id}: {problem}")
    score = check.table(scores)
    click.echo(score)
    if every:
        for lang, readme in READMES.items():
            _write(readme, "score", check.table(scores, lang))
            _write(readme, "katas", check.course(chosen, lang))
    if any(one.problems for one in scores):
        raise click.exceptions.Exit(1)


def _tell(kata: str, step: str = "") -> None:
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{(kata + step)[:78]}", nl=False, err=True)


def _write(filename: str, name: str, text_there: str) -> None:
    """Put a table where a README of a clone has a place for it."""
    readme: Path = catalog.content_root() / filename
    if not readme.is_file():
        return
    text = readme.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    place: Any = re.compile(f"{begin}.*?{end}", re.DOTALL)
    readme.write_text(place.sub(lambda _match: f"{begin}\n{text_there}\n{end}", text), encoding="utf-8")
