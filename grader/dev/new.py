"""All files of a new kata, with what is left to do in them as `TODO`; `kata dev check` tells where these are."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import Final

from grader import catalog
from grader.catalog import Kata
from grader.errors import UsageError

TEMPLATES: Final = Path(__file__).with_name("templates")
PLACES: Final = {
    "reference.py.txt": "solutions/$id/reference.py",
    "stub.py.txt": "katas/$id/stub.py",
    "kata.toml": "katas/$id/kata.toml",
    "cases.py.txt": "solutions/$id/cases.py",
    "brief.md": "katas/$id/brief.md",
    "brief.zh.md": "katas/$id/brief.zh.md",
    "cases.zh.toml": "solutions/$id/cases.zh.toml",
    "wrong.py.txt": "tests/answers/$id/wrong/first_try.py",
    "correct.py.txt": "tests/answers/$id/correct/another_style.py",
    "mistakes.toml": "solutions/$id/mistakes.toml",
    "hints.md": "katas/$id/hints.md",
    "hints.zh.md": "katas/$id/hints.zh.md",
    "talk.md": "katas/$id/talk.md",
    "talk.zh.md": "katas/$id/talk.zh.md",
    "independent.py.txt": "tests/independent/test_$name.py",
}
"""Templates, in the order in which they are best filled in, and where each goes."""
MARK: Final = "TODO"


def write(kata_id: str, title: str, track: int) -> list[Path]:
    """Write the files of a new kata, the last of its track; nothing, and a UsageError, where that cannot be."""
    name = kata_id.replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", kata_id) or keyword.iskeyword(name):
        raise UsageError(f"{kata_id!r} is no kata id: lower-case words joined by hyphens, such as rms-norm.")
    if any(character in title for character in '"\\\n'):
        raise UsageError(f"The title {title!r} has a quotation mark, a backslash or a line break in it.")
    order = max((kata.order for kata in catalog.katas().values() if kata.track == track), default=0) + 10
    root = catalog.content_root()
    words = {"id": kata_id, "name": name, "title": title, "track": track, "order": order}
    files = dict(zip(_places(root, kata_id), PLACES, strict=True))
    for there in filter(Path.exists, files):
        raise UsageError(
            f"{there} is there already.", f"Another id, or `kata dev check {kata_id}`, which goes on with it."
        )
    for path, template in files.items():
        text = Template((TEMPLATES / template).read_text(encoding="utf-8")).substitute(words)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    catalog.reread()
    return list(files)


def left_to_do(kata: Kata) -> Iterator[str]:
    """Yield what is left to do in the files of a kata, with file and line, the next step first."""
    root = catalog.content_root()
    ours = _places(root, kata.id)
    folders = [root / "katas" / kata.id, root / "solutions" / kata.id, root / "tests" / "answers" / kata.id]
    others = {path for folder in folders for path in folder.rglob("*")} - {*ours}
    for path in [*ours, *sorted(others)]:
        if path.is_file() and path.suffix in (".py", ".md", ".toml", ".diff"):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if MARK in line:
                    step = line[line.index(MARK) :].removeprefix(MARK).strip(' :"|')
                    yield f"{path.relative_to(root)}:{number}: left to do: {step}"


def _places(root: Path, kata_id: str) -> list[Path]:
    """Return where the files of a kata lie, in the order of PLACES."""
    words = {"id": kata_id, "name": kata_id.replace("-", "_")}
    return [root / Template(place).substitute(words) for place in PLACES.values()]
