"""The options before any command: where the workspace is, which language is spoken."""

from pathlib import Path

import click

from grader.language import LANGUAGES, _, current, recognised
from grader.text import clean


def one_folder(context: click.Context, parameter: click.Parameter, folder: Path | None) -> Path | None:
    """Refuse the home of a user who does not exist."""
    try:
        return folder.expanduser() if folder else None
    except RuntimeError:
        sentence = _("'{name}' is the home of no user of this machine.")
        said = sentence.format(name=clean(str(folder), 80))
        raise click.BadParameter(said, param_hint=_variable(context, parameter)) from None


def one_language(context: click.Context, parameter: click.Parameter, name: str | None) -> str:
    """Refuse what is no language of ours; return the one that was chosen before anything was parsed."""
    if name and recognised(name) is None:
        sentence = _("'{name}' is none of {names}.")
        said = sentence.format(name=clean(name, 80), names=_(", ").join(LANGUAGES))
        raise click.BadParameter(said, param_hint=_variable(context, parameter))
    return current()


def _variable(context: click.Context, parameter: click.Parameter) -> str | None:
    """Return the environment's variable that a value comes from, None for one that was typed."""
    source = context.get_parameter_source(parameter.name or "")
    return str(parameter.envvar) if source is click.core.ParameterSource.ENVIRONMENT else None
