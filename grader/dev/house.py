"""The house in numbers: what one has to know, carry and keep apart in order to live in this code.

All of it is read from the sources, nothing is run. The numbers are for a clone: an installed copy has neither the tests
nor the rooms of ``pyproject.toml``.

Two of them are wanted by what the house was like when they were wanted, and grow with what it can do. Lines of grader/
are counted without ``WITH_OTHER_THINGS``. Answers to the katas are counted by what one of them takes: 668 answers had
26,644 lines, two thirds of which stood in an earlier sibling, and were wanted to have 16,000, which is 24 for each;
there are more answers every week, and each one more holds the grader to something.
"""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from statistics import mean
from typing import Any, Final

from grader import catalog
from grader.dev.road import classes_on_the_road
from grader.errors import UsageError

PACKAGE: Final = "grader"
MOST_LINES: Final = 400
WRITTEN_BY_HAND: Final = (PACKAGE, "solutions", "katas", "tests")
TEXTS: Final = ("title", "explain", "nudge")
LINES_OF_AN_ANSWER: Final = 24

# What grader/ did not do yet when its 18,000 lines were to become 17,000 (at 297aaea): whole rooms and files that came
# with it. What it made grow in files that were there, it made grow there: that is counted with the rest.
WITH_OTHER_THINGS: Final = {
    "practice: rounds, reviews, plans, questions, mock interviews": (
        *("practice/", "records.py", "pages.py", "show/practice.py", "show/mock.py", "cli/afterwards.py"),
        *("cli/guard.py", "cli/mock.py", "cli/mock_over.py", "cli/mocking.py", "cli/practice.py", "cli/review.py"),
        "cli/talk.py",
    ),
    "the page in the browser": ("web/", "cli/web.py"),
    "notebooks, and programs that grade": ("ipython.py", "api.py", "client/broken.py"),
    "reports for test runners, editors and courses": (
        *("formats/", "cli/formatting.py", "cli/init.py", "show/problems.py"),
    ),
    "samples of a model": ("evaluation/", "cli/evaluating.py", "cli/task.py", "show/evaluation.py"),
    "why an answer fails: its place, its causes, pictures of both": (
        *("judge/explain/locate/", "judge/explain/causes.py", "judge/explain/cause.py"),
        *("judge/explain/search.py", "judge/explain/picture.py", "judge/explain/drawing.py"),
        *("probes/lines.py", "probes/steps.py", "probes/work.py", "sandbox/named.py", "kit/drawings.py"),
        *("show/causes.py", "show/code.py", "show/drawings.py", "show/html.py", "show/hypertext.py"),
        *("show/paragraphs.py", "show/pictures.py", "cli/drawing.py"),
    ),
    "proof: ways to call, measured tolerances, mutants": (
        *("dev/mutants/", "judge/cases/levels.py", "judge/runs/isolation.py", "judge/verdict/rounding.py"),
        *("judge/tolerance.py", "sandbox/levels.py", "transport/memory.py"),
    ),
    "evidence of tampering": ("sandbox/tampering/", "probes/seal.py"),
    "katas of optimisers, training, decoding and rewards": (
        *("sandbox/drivers.py", "kit/attention.py", "kit/digits.py", "kit/inference.py", "kit/rewards.py"),
    ),
    "briefs at a glance, and stubs in Chinese": (
        *("dev/briefs.py", "dev/byhand.py", "show/markdown.py", "wording.py"),
    ),
    "one workspace from wherever": ("cli/place.py",),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One number, and what it shall be at most."""

    id: str
    name: str
    now: int
    wanted: int | None = None
    found: tuple[str, ...] = ()
    """What was counted, where that can be listed."""

    @property
    def holds(self) -> bool:
        """Whether it is as low as it shall be."""
        return self.wanted is None or self.now <= self.wanted


def measured(clone: Path | None = None) -> list[Row]:
    """Measure everything. Raises UsageError outside a clone with what its developers install."""
    root = clone or catalog.content_root()
    package, answers = root / PACKAGE, root / "tests" / "answers"
    if not (root / "pyproject.toml").is_file() or not answers.is_dir():
        raise UsageError(
            "The house is measured in a clone, from its sources and its tests.",
            hint="Clone the repository and call `make house` there.",
        )
    circles, upward = arrows(root)
    kept = (path_and_count for folder in WRITTEN_BY_HAND for path_and_count in lengths(root / folder))
    long = sorted(
        f"{path.relative_to(root)}: {count}"
        for path, count in kept
        if count > MOST_LINES and not path.is_relative_to(answers)
    )
    road, explaining = classes_on_the_road(package)
    lives = sorted(lives_of_check(package))
    by_room, by_thing = rooms_of(package)
    of_answers = [count for _path, count in lengths(answers, "*.py", "*.diff")]
    repeated = sorted(repeated_texts(root / "solutions"))
    return [
        Row("circles", "circles of imports", len(circles), 0, tuple(circles)),
        Row("upward", "arrows that run back up", len(upward), 0, tuple(upward)),
        Row("classes", "classes to know to follow a passing `kata grade`", len(road), 40, tuple(road)),
        Row("explaining", "classes more where a failure is explained", len(explaining), None, tuple(explaining)),
        Row("check", "ways in which `Check` lives", len(lives), 2, tuple(lives)),
        Row("lines", "lines of grader/, without what came with other things", by_room.total(), 17_000, told(by_room)),
        Row("others", "lines of what came with other things", by_thing.total(), None, told(by_thing)),
        Row("answers", "lines of a file of tests/answers", ceil(mean(of_answers)), LINES_OF_AN_ANSWER),
        Row("long", f"files of code above {MOST_LINES} lines, answers aside", len(long), 0, tuple(long)),
        Row("repeated", "mistakes that repeat the texts of another one", len(repeated), 0, tuple(repeated)),
    ]


def document(rows: list[Row]) -> dict[str, Any]:
    """Return what `kata dev house --json` prints."""
    return {"schema": 1, "rows": [asdict(row) | {"holds": row.holds} for row in rows]}


def table(rows: list[Row]) -> str:
    """Return the rows as a table of Markdown."""
    lines = ["| | now | wanted |", "|---|---|---|"]
    for row in rows:
        wanted = "" if row.wanted is None else f"{row.wanted:,}" + (" or fewer" if row.wanted else "")
        lines.append(f"| {row.name} | {row.now:,} | {wanted} |")
    return "\n".join(lines)


# --- what imports what


def arrows(root: Path) -> tuple[list[str], list[str]]:
    """Return the imports that close a circle, and those that run up through the rooms of ``pyproject.toml``."""
    try:
        import grimp  # noqa: PLC0415 - comes with import-linter, which only developers have
    except ImportError as error:
        raise UsageError("This needs import-linter.", hint="`make setup` installs it.") from error
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    packages = sorted(module for module in graph.modules if graph.find_children(module))
    circles = [
        f"{importer} -> {imported}"
        for package in packages
        for importer, imported in sorted(graph.nominate_cycle_breakers(package))
    ]
    upward = []
    for contract in contracts:
        if contract["type"] != "layers":
            continue
        layers = [grimp.Layer(*map(str.strip, layer.split("|")), independent=True) for layer in contract["layers"]]
        containers = set(contract.get("containers", []))
        found = graph.find_illegal_dependencies_for_layers(layers=layers, containers=containers)
        upward += [f"{dependency.importer} -> {dependency.imported}" for dependency in found]
    return circles, sorted(upward)


# --- lines


def lengths(folder: Path, *kinds: str) -> Iterator[tuple[Path, int]]:
    """Yield the files of some kinds below a folder with their lines, of Python where none is named."""
    for kind in kinds or ("*.py",):
        for path in sorted(folder.rglob(kind)):
            yield path, len(path.read_text(encoding="utf-8").splitlines())


def rooms_of(package: Path) -> tuple[Counter[str], Counter[str]]:
    """Return the lines of each room of a package, the small modules at its top being one, and of each other thing."""
    rooms: Counter[str] = Counter()
    things: Counter[str] = Counter()
    for path, count in lengths(package):
        inside = path.relative_to(package)
        came_with = thing_of(inside.as_posix())
        room = inside.parts[0] if inside.parts[1:] else "modules at the top"
        (things if came_with else rooms)[came_with or room] += count
    return rooms, things


def thing_of(path: str) -> str:
    """Return the other thing that a file came with, if it did."""
    found = (thing for thing, paths in WITH_OTHER_THINGS.items() for one in paths if path == one or _holds(one, path))
    return next(found, "")


def _holds(folder: str, path: str) -> bool:
    return folder.endswith("/") and path.startswith(folder)


def told(counted: Counter[str]) -> tuple[str, ...]:
    """Return what was counted, the most first."""
    return tuple(f"{name}: {count:,}" for name, count in counted.most_common())


# --- the check


def lives_of_check(package: Path) -> Iterator[str]:
    """Yield the functions of the judge that make a `Check`, or set one of its fields from outside."""
    for path in sorted((package / "judge").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and any(map(_makes_or_sets_a_check, ast.walk(node))):
                yield f"{path.relative_to(package)}: {node.name}"


def _makes_or_sets_a_check(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "Check"
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(
        isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "check"
        for target in targets
    )


# --- texts


def repeated_texts(solutions: Path) -> Iterator[str]:
    """Yield the mistakes whose title, explanation and nudge stand word for word with an earlier one."""
    seen: dict[str, str] = {}
    for path in sorted(solutions.glob("*/mistakes.toml")):
        for mistake in tomllib.loads(path.read_text(encoding="utf-8")).get("mistake", []):
            texts = repr([mistake.get(key) for key in TEXTS])
            name = f"{path.parent.name}/{mistake['id']}"
            if mistake.get("title") is not None and seen.setdefault(texts, name) != name:
                yield f"{name}: {seen[texts]}"
