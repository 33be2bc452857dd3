"""Grading from a program: what `kata grade --json` prints, as a typed function.

    from grader import api

    report = api.grade("mha", source)
    report["verdict"], report["families"]

    with api.Grader() as grader:          # many answers: one server, judges that stay prepared
        reports = [grader.grade("mha", source, seed=7) for source in sources]

The answer is run in a sandbox, never in this process; docs/safety.md says what that promises, and a report's
`sandbox_gaps` what this machine lacks of it. docs/report.md describes each field. Nothing is recorded.
"""

from pathlib import Path
from typing import Any, Literal, NotRequired, Self, TypedDict, cast

from grader import catalog
from grader.client import session
from grader.client.broken import error_report, refused, unreadable
from grader.errors import BadAnswerFile, GraderFailed, NotUtf8
from grader.transport.request import Request
from grader.workspace import decoded

__all__ = ["Case", "Cause", "Count", "Evidence", "Fact", "Grader", "Mistake", "Picture", "Report", "grade"]


class Count(TypedDict):
    """How many cases of a family passed; skipped ones count in the total."""

    passed: int
    total: int


Tolerance = TypedDict("Tolerance", {"allowed": float, "from": str})
"""How near numbers had to be, and where that comes from: "measured", "rounding" or "table"."""


class Case(TypedDict):
    """What came of one case."""

    id: str
    family: str
    title: str
    about: str
    outcome: Literal["passed", "failed", "timeout", "crashed", "skipped"]
    kind: str
    message: str
    where: str
    line: str
    call: str
    tolerance: Tolerance | None
    levels: dict[str, str]
    needs: dict[str, str] | None
    only: str
    remarks: list[dict[str, str]]
    printed: str
    seconds: float


class Picture(TypedDict):
    """A window of a wrong result and of the right one; NaN and infinities are words."""

    label: str
    rows: list[int]
    columns: list[int]
    expected: list[list[float | str]]
    got: list[list[float | str]]


class Evidence(TypedDict):
    """The case that shows a cause, and what its steps tell."""

    case: str
    steps: str
    message: str
    call: str
    picture: NotRequired[Picture | None]


class Cause(TypedDict):
    """Why cases fail: a known mistake, a place ("located"), or what is merely seen ("seen")."""

    id: str
    title: str
    explain: str
    push: str
    line: int
    lines: list[int]
    where: str
    code: str
    evidence: Evidence
    cases: list[str]


class Mistake(TypedDict):
    """A known mistake that reproduces what the answer gave."""

    id: str
    title: str
    explain: str
    nudge: str
    hint: int
    cases: list[str]
    together: bool


class Fact(TypedDict):
    """What holds for the results where no mistake is named."""

    id: str
    explain: str


class Report(TypedDict):
    """The report of a grading, a plain dictionary: docs/report.md."""

    schema: int
    kata: str
    file: str
    verdict: Literal["passed", "failed", "error"]
    message: str
    cases: list[Case]
    causes: list[Cause]
    mistakes: list[Mistake]
    facts: list[Fact]
    unexplained: str
    families: dict[str, Count]
    printed: str
    seed: int | None
    seconds: float
    spent: dict[str, float]
    sandbox: list[str]
    sandbox_gaps: list[str]
    device: str
    repro: str
    versions: dict[str, str]
    same_as: NotRequired[str]


def grade(
    kata: str, source: str | bytes, seed: int | None = None, *, case: str = "", device: str = "", lang: str = "en"
) -> Report:
    """Grade the text of one answer and return its report, as `kata grade --file ... --json` prints it.

    ``kata`` is an id; ``seed`` repeats the inputs of an earlier grading, None draws new ones; ``case`` chooses the
    cases whose name contains it, ``device`` adds cuda or mps, ``lang`` is the language of sentences: en or zh. A server
    that an earlier grading has left is used, and left to the next one.

    Whatever the answer does is a verdict `failed`, also that it is no UTF-8 text or larger than 1 MiB. Where the grader
    itself fails the verdict is `error`, which says nothing of the answer. Raises UsageError for an unknown kata, a
    ``case`` that names none, or an absent device.
    """
    with Grader(stays=True) as grader:
        return grader.grade(kata, source, seed, case=case, device=device, lang=lang)


class Grader:
    """Grades many answers, from several threads where you like; ends its processes when the block ends."""

    def __init__(self, *, stays: bool = False) -> None:
        """Start the server. ``stays``: use the one that an earlier grading has left, and leave it to the next one."""
        self._session = session.Session(stays=stays, keep=not stays)
        self._stays = stays

    def grade(
        self,
        kata: str,
        source: str | bytes,
        seed: int | None = None,
        *,
        case: str = "",
        device: str = "",
        lang: str = "en",
    ) -> Report:
        """Grade one answer, as :func:`grade`; those to the same kata with the same seed share what is prepared."""
        found = catalog.find(kata)
        path = Path(found.filename)
        request = Request(found.id, "", path.name, seed=seed, case=case, device=device, lang=lang)
        try:
            text = decoded(path, source)
            asked = Request(found.id, text, path.name, seed=seed, case=case, device=device, lang=lang)
            return cast("Report", self._session.grade(asked, many=not self._stays))
        except NotUtf8 as error:
            return cast("Report", unreadable(request, error))
        except BadAnswerFile as error:
            return cast("Report", refused(request, error))
        except GraderFailed as error:
            return cast("Report", error_report(request, error))

    def probe(self) -> dict[str, Any]:
        """Start a sandbox and return what holds in it: its `layers`, and its `gaps`, which should be none."""
        return self._session.probe()

    def cancel(self) -> None:
        """Give up the gradings that run in other threads: each raises Cancelled."""
        self._session.cancel()

    def close(self) -> None:
        """End the server, unless it stays, and what is below it."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
