"""The katas on disk: found, validated, in the order of the course."""

import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

from grader import pages
from grader.errors import BadKataFile, UnknownKata
from grader.language import LANGUAGES

TRACKS: dict[int, dict[str, str]] = {
    1: {"en": "One head", "zh": "单头注意力"},
    2: {"en": "Many heads", "zh": "多头注意力"},
    3: {"en": "Positions", "zh": "位置编码"},
    4: {"en": "Blocks", "zh": "模块"},
    5: {"en": "Inference", "zh": "推理"},
    6: {"en": "Training", "zh": "训练"},
}
FAMILIES = ("core", "mask", "dtype", "grad", "device", "contract", "cost")
CALL_SECONDS = 10.0
GRADING_SECONDS = 60.0
MOST_BUGS = 9

Texts = Mapping[str, dict[str, str]]

_DEBUG, _REVIEW, _MOCK = "debug", "review", "mock"
KINDS = (_DEBUG, _REVIEW, _MOCK)
"""What has a file and rounds of its own beside the answer to a kata."""
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_*]\w*)*\*?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kata:
    """One kata: what `kata.toml` says, and where its files are."""

    id: str
    title: dict[str, str]
    track: int
    order: int
    difficulty: int
    minutes: int
    entry: tuple[str, ...]
    needs: tuple[str, ...]
    tags: tuple[str, ...]
    families: tuple[str, ...]
    forbidden: tuple[str, ...]
    allowed: tuple[str, ...]
    without: tuple[str, ...] = ()
    """Levels at which no run goes through its cases: see `grader/judge/cases/levels.py`."""
    continues: str = ""
    """The kata with whose passed answer the file begins; empty for none."""
    call_seconds: float = CALL_SECONDS
    grading_seconds: float = GRADING_SECONDS
    bugs: int = 1
    """How many mistakes a debug round plants where nobody says."""
    folder: Path
    solution: Path

    @property
    def filename(self) -> str:
        """The name of the learner's file: an importable one."""
        return filename(self.id)

    @property
    def bounds(self) -> dict[str, list[str]]:
        """What is out of bounds besides what always is, and what is allowed after all: for the tracer."""
        return {"forbidden": list(self.forbidden), "allowed": list(self.allowed)}

    def stub(self, lang: str = "en") -> str:
        """Return the file that a learner starts from."""
        source, texts = _text(self.folder / "stub.py"), words(self.folder / f"stub.{lang}.toml")
        return _worded(source, texts, lang)

    def stubs(self) -> list[str]:
        """Return that file in every language: nobody has written anything into any of them."""
        return [self.stub(lang) for lang in LANGUAGES]

    def brief(self, lang: str) -> str:
        """Return the task as Markdown."""
        return _text(self._translated("brief", lang))

    def hints(self, lang: str) -> list[tuple[str, str]]:
        """Return the rungs of the ladder, each a heading and its Markdown."""
        path = self._translated("hints", lang)
        rungs = pages.rungs(_text(path))
        if not rungs:
            raise BadKataFile(path, "", "has no rung: each begins with a heading such as `## 1 · Where to start`")
        return rungs

    def talk(self, lang: str) -> str:
        """Return the follow-up questions of an interviewer, as Markdown."""
        return _text(self._translated("talk", lang))

    def reference(self, lang: str = "en") -> str:
        """Return the model answer, behind that to the kata that it continues. Raises BadKataFile.

        In another language its words alone are others.
        """
        return _worded(_reference(self), self.reference_words(lang), lang)

    def reference_words(self, lang: str) -> Texts:
        """Return the words of the model answer in another language; none where nobody has translated it."""
        own = words(self.solution / f"reference.{lang}.toml")
        if not own:
            return own
        from grader.wording import completed  # noqa: PLC0415 - English does without

        common = words(self.solution.parent / f"words.{lang}.toml").get("words", {})
        stubs = [self.folder.with_name(self.continues or self.id), self.folder]
        described = [words(folder / f"stub.{lang}.toml").get("docstrings", {}) for folder in stubs]
        return completed(_reference(self), own, {"docstrings": described[0] | described[1]}, common)

    def reference_place(self, line: int) -> str:
        """Return file and line of where a line of the model answer is written."""
        own, whole = (len(text.splitlines()) for text in (_text(self.solution / "reference.py"), self.reference()))
        if line > whole - own:
            return f"reference.py:{line - (whole - own)}"
        return f"line {line} of the reference, which is written in solutions/{self.continues}/reference.py"

    def _translated(self, stem: str, lang: str) -> Path:
        path = self.folder / f"{stem}.{lang}.md"
        return path if lang != "en" and path.is_file() else self.folder / f"{stem}.md"


def filename(name: str) -> str:
    """Return the name of a learner's file: `masked_softmax.py` for `masked-softmax`.

    `masked_softmax_debug.py` for its debug round, `masked-softmax.debug`.
    """
    return re.sub("[-.]", "_", name) + ".py"


def beside(kata_id: str, kind: str) -> str:
    """Return the name of what stands beside the answer in workspace and history; no kata has it as its id."""
    return f"{kata_id}.{kind}" if kind else kata_id


def debug_round(kata_id: str) -> str:
    """Return the name of the debug rounds of a kata."""
    return beside(kata_id, _DEBUG)


def review(kata_id: str) -> str:
    """Return the name of the reviews of a kata."""
    return beside(kata_id, _REVIEW)


def kata_of(name: str) -> str:
    """Return the id of the kata that a name is about."""
    return name.partition(".")[0]


def kind_of(name: str) -> str:
    """Return which of the `KINDS` a name is of; empty for the answer itself."""
    return name.partition(".")[2]


def typed(name: str) -> str:
    """Return what a name is on the command line: `mha --debug` for debug rounds, for reviews their file."""
    if is_debug_round(name):
        return f"{kata_of(name)} --debug"
    return filename(name) if kind_of(name) else name


def is_debug_round(name: str) -> bool:
    """Tell whether a name is that of the debug rounds of a kata."""
    return kind_of(name) == _DEBUG


def content_root() -> Path:
    """Return the folder that holds `katas/` and `solutions/`: inside an installed package, or the clone."""
    package = Path(__file__).resolve().parent
    bundled = package / "bundled"
    return bundled if (bundled / "katas").is_dir() else package.parent


def exists(kata_id: str) -> bool:
    """Tell whether a kata has this very id, without reading any."""
    return _ID.fullmatch(kata_id) is not None and (content_root() / "katas" / kata_id / "kata.toml").is_file()


def rules(lang: str) -> str:
    """Return what holds in every kata, as Markdown."""
    name = "rules.md" if lang == "en" else f"rules.{lang}.md"
    return _text(content_root() / "docs" / name)


def katas() -> dict[str, Kata]:
    """Return every kata by its id, in the order of the course.

    Raises BadKataFile, which names file and key, for a kata.toml that breaks the rules.
    """
    return dict(_katas(content_root()))


def reread() -> None:
    """Forget what was read: a kata was written."""
    _katas.cache_clear()


def find(name: str) -> Kata:
    """Return the kata of this name; `Masked_Softmax`, `masked softmax` and `masked_softmax.py` do as well.

    Raises UnknownKata with suggestions.
    """
    found = katas()
    kata_id = name.lower().removesuffix(".py").replace("_", "-").replace(" ", "-")
    if kata_id in found:
        return found[kata_id]
    from grader.suggest import Called, suggested  # noqa: PLC0415 - only for a name that was mistyped

    called = [Called(kata.id, tuple(kata.title.values()), kata.tags, kata.entry) for kata in found.values()]
    raise UnknownKata(name, suggested(kata_id, called))


def following(passed: Collection[str], after: str = "") -> Kata | None:
    """Return what to do next: the first kata that is open and whose needs are passed.

    Those behind `after` come first, where that is passed itself.
    """
    found = katas()
    order = list(found)
    start = order.index(after) + 1 if after in found and after in passed else 0
    opened = [found[kata_id] for kata_id in order[start:] + order[:start] if kata_id not in passed]
    ready = (kata for kata in opened if not open_needs(kata, passed))
    return next(ready, opened[0] if opened else None)


def open_needs(kata: Kata, passed: Collection[str]) -> list[str]:
    """Return the katas that `kata` builds on and that are not passed yet."""
    return [need for need in kata.needs if need in katas() and need not in passed]


@cache
def _katas(root: Path) -> dict[str, Kata]:
    folders = [file.parent for file in (root / "katas").glob("*/kata.toml")]
    found = [_load(folder, root / "solutions" / folder.name) for folder in folders]
    return {kata.id: kata for kata in sorted(found, key=lambda kata: (kata.track, kata.order, kata.id))}


def _load(folder: Path, solution: Path) -> Kata:
    file = folder / "kata.toml"
    if not _ID.fullmatch(folder.name):
        raise BadKataFile(file, "", f"the folder {folder.name!r} is no kata id: lower-case words joined by hyphens")
    try:
        table = _Table(file, tomllib.loads(file.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise BadKataFile(file, "", str(error)) from error
    kata = Kata(
        id=folder.name,
        title=table.title(),
        track=table.whole("track", 1, max(TRACKS)),
        order=table.whole("order", 0, 10**6),
        difficulty=table.whole("difficulty", 1, 5),
        minutes=table.whole("minutes", 1, 24 * 60),
        entry=table.names("entry", str.isidentifier, "a Python name", at_least=1),
        needs=table.names("needs", lambda name: _ID.fullmatch(name) is not None, "the id of a kata"),
        tags=table.names("tags", lambda name: bool(name.strip()), "a word"),
        families=table.names("families", FAMILIES.__contains__, "one of " + " ".join(FAMILIES), at_least=1),
        forbidden=table.names("forbidden", _is_dotted, "a dotted name"),
        allowed=table.names("allowed", _is_dotted, "a dotted name"),
        without=table.names("without", str.isprintable, "a level", default=[]),
        continues=table.kata("continues"),
        call_seconds=table.seconds("call_seconds", CALL_SECONDS),
        grading_seconds=table.seconds("grading_seconds", GRADING_SECONDS),
        bugs=table.whole("bugs", 1, MOST_BUGS, default=1),
        folder=folder,
        solution=solution,
    )
    table.refuse_the_rest()
    return kata


def _reference(kata: Kata, later: tuple[str, ...] = ()) -> str:
    text = _text(kata.solution / "reference.py")
    if not kata.continues:
        return text
    from grader import continued  # noqa: PLC0415 - parses Python: for the few that continue another one

    if kata.continues in (*later, kata.id):
        raise BadKataFile(kata.folder / "kata.toml", "continues", f"{kata.continues} continues this kata in turn")
    earlier = _load(kata.folder.parent / kata.continues, kata.solution.parent / kata.continues)
    before = _reference(earlier, (*later, kata.id))
    try:
        return continued.behind(before, text, earlier.filename.removesuffix(".py"))
    except SyntaxError as error:
        raise BadKataFile(kata.solution / "reference.py", f"line {error.lineno}", error.msg) from error


def _is_dotted(name: str) -> bool:
    return _DOTTED.fullmatch(name) is not None


class _Table:
    """A kata.toml being read: each key is taken once, and a wrong one is named with its file."""

    def __init__(self, file: Path, values: dict[str, Any]) -> None:
        self.file = file
        self.values = values
        self.known: list[str] = []

    def title(self) -> dict[str, str]:
        title = self._take("title")
        if not isinstance(title, dict) or set(title) != {"en", "zh"}:
            raise self._wrong("title", 'needs the two languages: { en = "...", zh = "..." }')
        for language, text in title.items():
            if not isinstance(text, str) or not text.strip():
                raise self._wrong(f"title.{language}", f"must be a title, not {text!r}")
        return title

    def whole(self, key: str, low: int, high: int, default: int | None = None) -> int:
        value = self._take(key, default)
        if type(value) is not int or not low <= value <= high:
            raise self._wrong(key, f"must be a whole number from {low} to {high}, not {value!r}")
        return value

    def names(
        self, key: str, fits: Callable[[str], bool], kind: str, at_least: int = 0, default: list[str] | None = None
    ) -> tuple[str, ...]:
        value = self._take(key, default)
        if not isinstance(value, list):
            raise self._wrong(key, f"must be a list, not {value!r}")
        for name in value:
            if not isinstance(name, str) or not fits(name):
                raise self._wrong(key, f"{name!r} is not {kind}")
        if len(value) < at_least:
            raise self._wrong(key, "must not be empty")
        if len(set(value)) < len(value):
            raise self._wrong(key, "names something twice")
        return tuple(value)

    def kata(self, key: str) -> str:
        value = self._take(key, "")
        if not isinstance(value, str) or (value and not _ID.fullmatch(value)):
            raise self._wrong(key, f"must be the id of a kata, not {value!r}")
        return value

    def seconds(self, key: str, default: float) -> float:
        self.known.append(key)
        value = self.values.get(key, default)
        if type(value) not in {int, float} or not isfinite(value) or value <= 0:
            raise self._wrong(key, f"must be a number of seconds above 0, not {value!r}")
        return float(value)

    def refuse_the_rest(self) -> None:
        for key in self.values:
            if key not in self.known:
                raise self._wrong(key, f"is not a key of kata.toml; the keys are {', '.join(self.known)}")

    def _take(self, key: str, default: Any = None) -> Any:
        self.known.append(key)
        if key not in self.values and default is None:
            raise self._wrong(key, "is missing")
        return self.values.get(key, default)

    def _wrong(self, key: str, problem: str) -> BadKataFile:
        return BadKataFile(self.file, key, problem)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadKataFile(path, "", "is missing") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadKataFile(path, "", str(error)) from error


def _worded(source: str, texts: Texts, lang: str) -> str:
    if not texts:
        return source
    from grader.wording import worded  # noqa: PLC0415 - English does without

    return worded(source, texts, lang)


def words(path: Path) -> Texts:
    """Read the words of a file of code in another language, none where there is no such file. Raises BadKataFile."""
    if not path.is_file():
        return {}
    try:
        tables = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise BadKataFile(path, "", str(error)) from error
    for name, table in tables.items():
        if not isinstance(table, dict) or not all(isinstance(text, str) and text.strip() for text in table.values()):
            raise BadKataFile(path, name, "must be a table of texts")
    return tables
