"""What `make demo` shows: an answer to `mha` with a mistake in it, graded, corrected and graded again.

It types the commands that a learner types, in a temporary folder with a history of its own.
"""

import os
import subprocess
import sys
import tempfile
from difflib import unified_diff
from pathlib import Path

from rich.console import Console

from grader.show.code import coloured

PLANTED = "  # demo\n"
ANSWER = Path(__file__).with_name("mha.py")
PASSED, FAILED = 0, 1

screen = Console(highlight=False, soft_wrap=True)


def answers() -> tuple[str, str]:
    """Return the text of the answer with the mistake, and of the corrected one."""
    _, *lines = ANSWER.read_text(encoding="utf-8").splitlines(keepends=True)
    wrong = "".join(line for line in lines if not line.endswith(PLANTED))
    return wrong.lstrip(), "".join(line.replace(PLANTED, "\n") for line in lines).lstrip()


def say(sentence: str) -> None:
    """Show what happens between two commands."""
    screen.print(f"\n{sentence}", style="magenta")


def kata(folder: Path, *arguments: str, code: int, quiet: bool = False) -> None:
    """Run a command as a learner would, and insist on its exit code."""
    screen.print(f"\n[bold]$ kata {' '.join(arguments)}[/bold]")
    sys.stdout.flush()
    command = [sys.executable, "-m", "grader", *arguments]
    environment = os.environ | {"KATA_HOME": str(folder / "home"), "KATA_WORKSPACE": "workspace"}
    output = subprocess.DEVNULL if quiet else None
    found = subprocess.run(command, cwd=folder, env=environment, stdout=output, check=False).returncode
    if found != code:
        sys.exit(f"`kata {' '.join(arguments)}` ended with {found}, not with {code}")


def main() -> None:
    """Show the round."""
    wrong, corrected = answers()
    with tempfile.TemporaryDirectory(prefix="kata-demo-") as name:
        folder = Path(name)
        kata(folder, "start", "mha", code=0, quiet=True)
        answer = folder / "workspace" / "mha.py"
        say("The task is shown, and workspace/mha.py is written. Somebody answers, with a mistake in it:")
        answer.write_text(wrong, encoding="utf-8")
        kata(folder, "grade", code=FAILED)
        say("The mistake is corrected:")
        change = list(unified_diff(wrong.splitlines(), corrected.splitlines(), lineterm="", n=1))[2:]
        screen.print(coloured("\n".join(change), "diff"))
        answer.write_text(corrected, encoding="utf-8")
        kata(folder, "grade", code=PASSED)
        kata(folder, "status", "mha", code=0)


if __name__ == "__main__":
    main()
