"""`kata show --weights`: an answer draws itself, in the terminal and as SVG."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from grader import catalog
from grader.catalog import Kata
from grader.client.session import Request, Session
from grader.judge.contract import Grading, Reference
from grader.judge.explain.drawing import drawn, example_in
from grader.judge.explain.reproduce import StandIn
from grader.judge.workers.backend import loaded
from grader.transport.request import DRAWING

WITH_DRAWINGS = [kata for kata in catalog.katas().values() if (kata.solution / DRAWING).is_file()]

TRAINED = ("translate", "translate-rnn")
UNTRAINED = [kata for kata in WITH_DRAWINGS if kata.id not in TRAINED]


@pytest.mark.xdist_group("served")
def test_an_answer_draws_itself(served) -> None:
    """The numbers are those of the learner's own code, right or wrong; the model answer's come with a pass."""
    served("start", "double")
    served.write("return x * 3")
    shown = served("show", "double", "--weights").stdout
    assert shown.splitlines() == [
        "yours  doubled (2, 3)",
        "       a    b    c",
        "one    ·  .75  9.0",
        "two  3.0  6.0 -3.0",
        "",
    ]
    served.write('if not hasattr(x, "shape"):\n    raise TypeError("x must be a tensor")\nreturn 2 * x')
    served("grade")
    shown = served("show", "double", "--weights").stdout
    assert shown.count("two  2.0  4.0 -2.0") == 2
    assert "model answer  doubled (2, 3)" in shown


@pytest.mark.xdist_group("served")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('raise RuntimeError("no")', "RuntimeError: no (line 2)"),
        ("return x.sum()", "doubled cannot be drawn: rows and columns are needed, not ()"),
        ("return", "doubled cannot be drawn: rows and columns are needed, not NoneType"),
        ("return [", "line 2"),
    ],
)
def test_an_answer_that_draws_nothing(served, body, said) -> None:
    """It says why, ends with 1, and what grades it."""
    served("start", "double")
    served.write(body)
    shown = served("show", "double", "--weights", code=1)
    assert "Your answer draws nothing: " in shown.stdout
    assert said in shown.stdout
    assert "`kata grade double`" in shown.stdout


@pytest.mark.xdist_group("served")
def test_a_picture_in_a_file(served) -> None:
    """It is well-formed, names its rows and columns, and says each number where one points."""
    served("start", "double")
    served.write('return x.masked_fill(x == 0.25, float("nan"))')
    shown = served("show", "double", "--svg", "double.svg").stdout
    assert shown == "Written to double.svg.\n"
    picture = ET.parse(Path(served.folder) / "double.svg")
    texts = [node.text for node in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"doubled", "one", "two", "a", "b", "c", "NaN", "·"} == set(texts)
    exact = [node.text for node in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert exact[1:] == ["0", "nan", "3", "1", "2", "-1"]


@pytest.mark.xdist_group("served")
def test_a_picture_takes_the_place_of_a_picture_alone(served) -> None:
    """An answer, or whatever else is there, stays; a folder that is not there is wrong use."""
    served("start", "double")
    served.write("return 2 * x")
    answer = Path(served.folder) / "workspace" / "double.py"
    written = answer.read_text()
    assert "kata did not write it" in served("show", "double", "--svg", "workspace/double.py", code=2).stderr
    assert answer.read_text() == written
    assert "There is no folder no/where." in served("show", "double", "--svg", "no/where/a.svg", code=2).stderr
    for _time in range(2):
        served("show", "double", "--svg", "again.svg")


def test_a_kata_without_a_drawing(tool) -> None:
    """It says which ones have one."""
    tool("start", "second")
    shown = tool("show", "second", "--weights", code=2)
    assert "There is nothing to draw of second." in shown.stderr


def test_not_in_a_mock_interview(tool) -> None:
    """Nothing helps while one runs."""
    tool("mock", "second")
    shown = tool("show", "second", "--weights", code=2)
    assert "mock" in shown.stderr


@pytest.mark.parametrize("kata", UNTRAINED, ids=[kata.id for kata in UNTRAINED])
def test_every_model_answer_draws_something(kata: Kata) -> None:
    """Maps with a name for each row and column, not all the same number."""
    grading = Grading(Reference(kata), 3)
    maps = drawn(grading, example_in(kata.solution / DRAWING), StandIn(loaded(kata.reference(), kata.filename)))
    assert maps
    for one in maps:
        for numbers in one["maps"]:
            assert len(numbers) == len(one["rows"])
            assert {len(row) for row in numbers} == {len(one["columns"])}
        assert len({number for numbers in one["maps"] for row in numbers for number in row}) > 1


@pytest.mark.one_of_many(of=4)
@pytest.mark.grades
@pytest.mark.parametrize("kata", TRAINED)
def test_what_a_trained_translator_is_worth(session: Session, kata: str) -> None:
    """Its loss falls, its sentences are those of the corpus, and each word hangs on the word that it translates."""
    chosen = catalog.find(kata)
    document = session.draw(Request(kata, chosen.reference(), chosen.filename), model=True)
    curve, sentences, alignment = document["yours"]
    assert document["model"] == []
    (first, high), *_between, (last, low) = curve["points"]
    assert (first, last) == (3, 160)
    assert low < high / 50
    assert "BLEU 1.000 of 303 sentences" in sentences["label"]
    assert sentences["lines"][0] == "go . → va !"
    assert len(sentences["lines"]) == 5
    numbers = {
        (row, column): number
        for row, line in zip(alignment["rows"], alignment["maps"][0], strict=True)
        for column, number in zip(alignment["columns"], line, strict=True)
    }
    hang = (("chat", "cat"), ("voit", "sees"), ("chien", "dog")) if kata == "translate" else ()
    assert set(alignment["columns"]) >= {"cat", "sees", "dog"}
    for french, english in hang:
        assert numbers[french, english] == max(number for (row, _column), number in numbers.items() if row == french)


def test_enough_of_them() -> None:
    """Whatever returns weights, masks or encodings has one."""
    assert len(WITH_DRAWINGS) >= 13
