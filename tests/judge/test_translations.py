"""What a learner reads in another language than English: texts of the cases, and what is said in the sandbox."""
# ruff: noqa: RUF001 - Chinese punctuation is meant

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from grader import catalog, language
from grader.dev import translated
from grader.errors import BadKataFile
from grader.judge.contract import Grading, Reference
from grader.judge.exchange.compare import compare
from grader.judge.failure import from_reply
from grader.judge.translations import Translations, load
from grader.transport import sentences
from grader.transport.wire import Foreign

GRADER = Path(catalog.__file__).parent
TEXTS = """\
[titles]
test_one = "一"
[why]
test_one = "因为。"
[sentences]
"chunks of {} differ" = "按 {} 分段就不同"
"{} before {}" = "{} 先于 {}"
"""
CASES = '''\
def helper(check, sentence):
    check.that(False, sentence)


def test_one(check, rng):
    """Why."""
    message = "said by name"
    check.same(1, 2, message)
    check.close(1, 2, f"chunks of {check} differ")
    check.at_most(1, 2, "much" if check else "more", 3)
    check.no_loop(1, 2, 3, sentence="a loop")
    helper(check, "handed over")
'''


@pytest.fixture
def chinese():
    """Speak Chinese for one test."""
    language.use("zh")
    yield
    language.use("en")


@pytest.fixture
def kata(make_kata):
    """A kata whose cases have Chinese texts."""
    kata = make_kata()
    (kata.solution / "cases.zh.toml").write_text(TEXTS, encoding="utf-8")
    return kata


def test_the_texts_of_a_kata(kata):
    """Titles and reasons are found by function, sentences by themselves or by their template."""
    texts = load(kata, "zh")
    assert texts.titles["test_one"] == "一"
    assert texts.why["test_one"] == "因为。"
    assert texts.sentence("chunks of [2, (1)] differ") == "按 [2, (1)] 分段就不同"
    assert texts.sentence("a before b\nbefore c") == "a 先于 b\nbefore c"
    assert texts.sentence("something else") == "something else"


def test_english_needs_no_texts(kata, make_kata):
    """In English the cases speak for themselves, and so do those of a kata without texts."""
    assert load(kata, "en") == Translations()
    (kata.solution / "cases.zh.toml").unlink()
    assert load(kata, "zh") == Translations()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[titles", "cases.zh.toml"),
        ('[title]\na = "b"\n', "is none of the tables"),
        ("[titles]\na = 1\n", "must be a table of texts"),
        ('[titles]\na = " "\n', "must be a table of texts"),
        ("why = 'text'\n", "must be a table of texts"),
    ],
)
def test_texts_that_break_the_rules(kata, text, problem):
    """The file and the table are named."""
    (kata.solution / "cases.zh.toml").write_text(text, encoding="utf-8")
    with pytest.raises(BadKataFile, match=problem):
        load(kata, "zh")


def test_a_grading_has_the_texts_of_its_language(kata, chinese):
    """The language of the process decides."""
    grading = Grading(Reference(kata), seed=5)
    assert grading.texts.titles == {"test_one": "一"}


def test_sentences_are_found_wherever_they_are_written():
    """Named, chosen, filled in, handed to a helper or by keyword: `dev check` sees them all."""
    assert sorted(translated.sentences(ast.parse(CASES))) == sorted(
        ["said by name", "chunks of {} differ", "much", "more", "a loop", "handed over"]
    )


def test_what_is_wrong_with_the_texts_is_named(kata):
    """What is missing, what belongs to nothing and other placeholders are problems; so is a file that is missing."""
    (kata.solution / "cases.py").write_text(CASES + '\n\ndef test_two(check):\n    """Why."""\n', encoding="utf-8")
    broken = TEXTS.replace("按 {} 分段", "分段").replace("[why]\ntest_one", "[why]\ntest_gone")
    (kata.solution / "cases.zh.toml").write_text(broken, encoding="utf-8")
    found = "\n".join(translated.problems(kata))
    for problem in (
        "[titles] lacks 'test_two'",
        "[why] lacks 'test_one'",
        "[why] has 'test_gone', which belongs to nothing",
        "[sentences] lacks 'handed over'",
        "[sentences] has '{} before {}', which belongs to nothing",
        "'chunks of {} differ' and its translation have different placeholders",
    ):
        assert problem in found
    (kata.solution / "cases.zh.toml").unlink()
    assert list(translated.problems(kata)) == ["cases.zh.toml is missing"]


@pytest.mark.parametrize("kata_id", catalog.katas())
def test_every_kata_speaks_chinese(kata_id):
    """Every function and every sentence of the cases has its text, and nothing is left over."""
    assert list(translated.problems(catalog.find(kata_id))) == []


def said_in(file: str, *makers: str) -> set[str]:
    """Return the templates of the texts that a file hands to these functions, or returns from them."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((GRADER / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in makers and node.args:
            found |= texts_of(node.args[0])
        elif isinstance(node, ast.FunctionDef) and node.name in makers:
            for part in ast.walk(node):
                if isinstance(part, ast.Return) and part.value is not None:
                    found |= texts_of(part.value)
                elif isinstance(part, ast.Dict):
                    found |= {text for key in part.keys if key is not None for text in texts_of(key)}
    return found - {""}


def texts_of(expression: ast.expr) -> set[str]:
    """Return the templates of an expression that is a text, or a choice of two."""
    if isinstance(expression, ast.IfExp):
        return texts_of(expression.body) | texts_of(expression.orelse)
    is_text = isinstance(expression, ast.Constant) and isinstance(expression.value, str)
    return {translated.template(expression)} if is_text or isinstance(expression, ast.JoinedStr) else set()


@pytest.mark.parametrize(
    ("file", "makers"),
    [
        ("sandbox/executor.py", ["AnswerError"]),
        ("transport/callables.py", ["ValueError"]),
        ("sandbox/values.py", ["TooLarge", "describe"]),
        ("transport/wire.py", ["WireError"]),
        ("judge/workers/sandbox.py", ["WireError"]),
        ("sandbox/confine.py", ["gaps"]),
        ("judge/cases/check.py", ["unreadable"]),
        ("judge/verdict/parameters.py", ["unreadable"]),
        ("probes/simdevice/__init__.py", ["available"]),
        ("probes/simdevice/backend.py", ["probe"]),
        ("probes/simdevice/traffic.py", ["_message"]),
    ],
)
def test_what_a_sandbox_says_is_known(file, makers):
    """Each sentence that is made in English for a learner, or sent by a sandbox, has its template."""
    said = said_in(file, *makers)
    known = {re.sub(r"{\w+}", "{}", text) for text in (*sentences.SENTENCES, *sentences.EXCEPTIONS, *sentences.VALUES)}
    assert said
    assert said - {"{} {}"} <= known  # `describe` chooses its article


def test_what_a_sandbox_says_in_chinese(chinese):
    """Sentences are found by their template, and what is filled in where it says what a value is."""
    assert sentences.in_words("the file defines no f") == "文件里没有定义 f"
    assert sentences.in_words("f is a generator, which cannot be called") == "f 无法调用（生成器）"
    assert sentences.value_in_words("an OrderedDict") == "OrderedDict 对象"
    assert sentences.in_words("my own words") == "my own words"


def test_failures_in_chinese(chinese):
    """What the judge says itself is Chinese; what Python says stays."""
    mismatch = compare(Foreign("a generator"), 1.5, None)
    assert mismatch.message == "你的代码返回：生成器；应为：1.5"
    failure = from_reply({"kind": "error", "type": "KeyError", "message": "'x'"})
    assert failure.message == "KeyError: 'x'"
    failure = from_reply({"kind": "error", "type": "AttributeError", "message": "'f' object has no attribute 'x'"})
    assert failure.message == "AttributeError: 'f' object has no attribute 'x'"
    failure = from_reply({"kind": "missing", "message": "the file defines no f"})
    assert failure.message == "文件里没有定义 f"
