"""The house in numbers: what one has to know, carry and keep apart in order to live in this code.

All of it is read from the sources, nothing is run. The numbers are for a clone: an installed copy has neither the tests
nor the rooms of ``pyproject.toml``.
"""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from grader import catalog
from grader.dev.road import classes_on_the_road
from grader.errors import UsageError

PACKAGE: Final = "grader"
MOST_LINES: Final = 400
WRITTEN_BY_HAND: Final = (PACKAGE, "solutions", "katas", "tests")
TEXTS: Final = ("title", "explain", "nudge")


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
    by_room = rooms_of(package)
    repeated = sorted(repeated_texts(root / "solutions"))
    return [
        Row("circles", "circles of imports", len(circles), 0, tuple(circles)),
        Row("upward", "arrows that run back up", len(upward), 0, tuple(upward)),
        Row("classes", "classes to know to follow a passing `kata grade`", len(road), 40, tuple(road)),
        Row("explaining", "classes more where a failure is explained", len(explaining), None, tuple(explaining)),
        Row("check", "ways in which `Check` lives", len(lives), 2, tuple(lives)),
        Row("lines", "lines of grader/ without catalogues", sum(by_room.values()), 17_000, told(by_room)),
        Row("answers", "lines of tests/answers", sum(n for _path, n in lengths(answers, "*.py", "*.diff")), 16_000),
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


def rooms_of(package: Path) -> Counter[str]:
    """Return the lines of each room of a package; the small modules at its top are one."""
    counted: Counter[str] = Counter()
    for path, count in lengths(package):
        room, *inside = path.relative_to(package).parts
        counted[room if inside else "modules at the top"] += count
    return counted


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
