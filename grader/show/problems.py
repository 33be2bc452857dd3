"""`kata watch --format lines`: what a problem matcher reads, between a line that begins and one that ends it."""

import sys

from grader.formats.lines import BEGINS, ENDS, lines
from grader.show.watch import Draw, Keys, Lines, Report
from grader.text import clean


class Problems(Lines):
    """A pipe to an editor."""

    def __init__(self, *, whole: bool) -> None:
        super().__init__(whole=whole)
        self._path = ""

    def about(self, name: str, path: str) -> None:
        """Note what is watched from now on."""
        del name
        self._path = clean(path)

    def checking(self) -> None:
        """Begin: the problems of before are none any more."""
        _say(f"{BEGINS} {self._path}")

    def judged(self, report: Report, page: Draw, keys: Keys, source: str = "") -> None:
        """Print the causes, the verdict and the end."""
        sys.stdout.write(lines(report, source))
        super().judged(report, page, keys)
        _say(f"{ENDS} {self._path}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
