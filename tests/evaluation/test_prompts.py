"""What a model is asked: the task, and nothing of its solution."""

from __future__ import annotations

import ast
import tomllib

import pytest

from grader import catalog
from grader.evaluation.completions import unwrapped
from grader.evaluation.prompts import prompt

KATAS = list(catalog.katas())
LANGUAGES = ("en", "zh")


def texts(value: object) -> list[str]:
    """Return all texts in a table."""
    if isinstance(value, dict):
        return [text for item in value.values() for text in texts(item)]
    return [value] if isinstance(value, str) else []


def statements(source: str) -> list[str]:
    """Return the assignments and results in the functions of a file, but for those too short to tell anything."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    found = [node for function in functions for node in ast.walk(function) if isinstance(node, ast.Assign | ast.Return)]
    return [text for node in found if len(text := ast.unparse(node)) > 25]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("kata_id", KATAS)
def test_it_is_whole(kata_id: str, lang: str) -> None:
    """Task, stub and rules are in it, and the stub defines every entry."""
    kata = catalog.find(kata_id)
    found = prompt(kata, lang)
    assert found["task_id"] == kata_id
    for part in ("task", "stub", "rules"):
        assert found[part].strip() in found["prompt"]
    names = {node.name for node in ast.parse(found["stub"]).body if hasattr(node, "name")}
    assert set(kata.entry) <= names
    assert unwrapped(found["prompt"], kata.entry).strip() == found["stub"].strip()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("kata_id", KATAS)
def test_it_names_no_mistake_and_shows_no_solution(kata_id: str, lang: str) -> None:
    """Neither what the grader knows of mistakes, nor hints, nor a body of the model answer."""
    kata = catalog.find(kata_id)
    asked = prompt(kata, lang)["prompt"]
    known = tomllib.loads((kata.solution / "mistakes.toml").read_text(encoding="utf-8"))
    said = [
        text
        for mistake in known.get("mistake", [])
        for key in ("explain", "nudge")
        for text in texts(mistake.get(key, {}))
    ]
    assert said
    least = {"en": 30, "zh": 15}[lang]  # "None stays None." is what a task may say, too
    assert [text for text in said if len(text) > least and text in asked] == []
    assert [text for _heading, text in kata.hints(lang) if text in asked] == []
    definition = "d_head = d_model // n_heads"
    assert [line for line in statements(kata.reference()) if line in asked and line != definition] == []
