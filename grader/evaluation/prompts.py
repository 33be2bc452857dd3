"""The tasks as a model gets them: nothing that a learner does not see before the first answer."""

from __future__ import annotations

from typing import Any, Final

from grader import catalog
from grader.catalog import Kata
from grader.language import _, marked

ASKED: Final = marked(
    "Write the whole file {file}: everything that the stub names, under these names and with these signatures. "
    "Answer with one block of Python code."
)


def prompt(kata: Kata, lang: str) -> dict[str, Any]:
    """Return one task: task, stub and rules by themselves, and together as `prompt`.

    Where a kata continues another one, the file holds both, and so do task and stub.
    """
    parts = [catalog.find(kata.continues), kata] if kata.continues else [kata]
    task = "\n\n".join(part.brief(lang).strip() for part in parts)
    stub = "\n\n\n".join(part.stub(lang).strip() for part in parts) + "\n"
    rules = catalog.rules(lang).strip()
    asked = _(ASKED).format(file=kata.filename)
    return {
        "task_id": kata.id,
        "lang": lang,
        "title": kata.title[lang],
        "file": kata.filename,
        "entry": list(kata.entry),
        "task": task,
        "stub": stub,
        "rules": rules,
        "prompt": f"{task}\n\n{rules}\n\n```python\n{stub}```\n\n{asked}\n",
    }
