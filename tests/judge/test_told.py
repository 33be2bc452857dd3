"""Wrong answers written from the briefs alone, in the tutorials' styles: what each is told is what a person expects.

The first line of a file under tests/told names its kata, the second the mistakes that are named; the lines that are
wrong end in `# wrong`, or in `# wrong, named` where a name without a place is all that can be told. A third line may
say of how many statements the place that is told first is at most: `# lines: 3`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from grader import catalog
from grader.client.session import Session
from grader.judge.explain.locate.statements import Statements
from tests.gradings import of_kata
from tests.judge.test_causes import why

LINES: Final = "# lines: "
ANSWERS: Final = sorted((Path(__file__).parents[1] / "told").glob("*.py"))


def _header(source: str) -> tuple[str, list[str]]:
    first, second = source.splitlines()[:2]
    names = (name.strip() for name in second.removeprefix("# names:").split(","))
    return first.removeprefix("# kata: "), sorted(name for name in names if name)


@pytest.mark.parametrize(
    "answer",
    [of_kata(_header(path.read_text())[0], path, name=path.stem, shares=12) for path in ANSWERS],
)
def test_what_a_person_expects(session: Session, answer: Path) -> None:
    """Each mistake is named or has its line, and none is named that is not there."""
    source = answer.read_text()
    kata, names = _header(source)
    causes = why(session, kata, source)
    assert sorted({cause["id"] for cause in causes} - {"located", "seen"}) == names
    told = {line for cause in causes for line in cause["lines"]}
    marked = {number for number, line in enumerate(source.splitlines(), 1) if line.endswith("# wrong")}
    assert marked <= told
    assert marked or names
    if (third := source.splitlines()[2]).startswith(LINES):
        statements = Statements(source)
        first = next(cause["lines"] for cause in causes if cause["lines"])
        assert len({statements.of(line) for line in first}) <= int(third.removeprefix(LINES))


def test_every_answer_is_of_a_kata() -> None:
    """There are many of them, each with a line that is wrong."""
    assert len(ANSWERS) >= 30
    for path in ANSWERS:
        source = path.read_text()
        assert _header(source)[0] in catalog.katas()
        assert "# wrong" in source
