"""Cases are read as pytest reads them, and what cannot be read is our own fault, told with its place."""

from __future__ import annotations

import dataclasses
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader import catalog
from grader.dev import rehearsal
from grader.judge.cases.case import Case
from grader.judge.cases.collect import cases_of
from grader.judge.failure import Failure
from grader.judge.translations import Translations
from grader.judge.workers.pending import MustResubmit
from tests.judge.runs import exchange_of

HEAD = "import pytest\n\n"


@pytest.fixture
def read(tmp_path: Path):
    """Return a function that writes cases and reads them."""

    def read(body: str) -> list[Case]:
        path = tmp_path / "cases.py"
        path.write_text(HEAD + textwrap.dedent(body), encoding="utf-8")
        return cases_of(path.parent, Translations())

    return read


def test_marks_parameters_and_order(read) -> None:
    """Family, parameters and traits follow pytest's marks; the order is that of the file."""
    cases = read('''
        @pytest.mark.mask
        @pytest.mark.derive("dtype", "grad")
        def test_second(check, rng):
            """What is hidden stays hidden.

            More about it.
            """

        @pytest.mark.parametrize("n", [1, 4])
        def test_first(check, n): ...

        @pytest.mark.trains
        @pytest.mark.precise
        def test_third(rng, check): ...

        def helper(check): ...
    ''')
    assert [(case.name, case.parameters) for case in cases] == [
        ("test_second", ""),
        ("test_first", "1"),
        ("test_first", "4"),
        ("test_third", ""),
    ]
    assert [case.position for case in cases] == [0, 1, 2, 3]
    assert [case.family for case in cases] == ["mask", "core", "core", "core"]
    assert cases[0].derives == ("dtype", "grad")
    assert cases[1].derives is None
    assert cases[0].about == "What is hidden stays hidden."
    assert [(case.trains, case.precise) for case in cases] == [(False, False)] * 3 + [(True, True)]


def test_large_numbers_are_shown_short(read) -> None:
    """A case at 2 to the 83rd does not show its 25 digits."""
    cases = read("""
        @pytest.mark.parametrize("level", [-(2.0**40), 2.0**83, 3e9, 0.25, 1e4, float("-inf")])
        def test_it(check, level): ...
    """)
    assert [case.parameters for case in cases] == ["-2^40", "2^83", "3e+09", "0.25", "10000.0", "-inf"]


def test_a_case_gets_what_its_own_parameters_say(read) -> None:
    """Check and numbers are new in each run, parameters are the case's own, in whatever order it wants them."""
    one, four = read("""
        @pytest.mark.parametrize("n", [1, 4])
        def test_it(rng, n, check):
            check.seen.append((rng, n))
    """)
    check = SimpleNamespace(seen=[], looked=False)
    one.function(check, "first")
    four.function(check, "second")
    assert check.seen == [("first", 1), ("second", 4)]


def test_what_a_case_cannot_use_is_the_answers_fault_once_it_has_looked(read) -> None:
    """An error before the case has seen a result is ours; afterwards the result is not what it takes it for."""
    (case,) = read("""
        def test_it(check):
            return check.value[3]
    """)
    exchange = exchange_of(1)
    exchange.value = (1, 2)
    check = SimpleNamespace(value=(1, 2), looked=True, exchanges=[exchange])
    with pytest.raises(Failure, match="does not fit here"):
        case.function(check, None)
    check.looked = False
    with pytest.raises(IndexError):
        case.function(check, None)


@pytest.mark.parametrize("error", [Failure("value", "not so"), MustResubmit()], ids=["failure", "lost"])
def test_verdicts_come_through(read, error: Exception) -> None:
    """A failure and a lost operation are no errors of the case."""

    def fail() -> None:
        raise error

    (case,) = read("def test_it(check): check.fail()\n")
    with pytest.raises(type(error)) as caught:
        case.function(SimpleNamespace(fail=fail, looked=True, exchanges=[]), None)
    assert caught.value is error


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("def test_it(check:\n", "SyntaxError"),
        ("import nothing_of_this_name\n", "nothing_of_this_name"),
        ("raise ValueError('not today')\n", "not today"),
        ("@pytest.mark.parametrize('n', [1])\ndef test_it(check): ...\n", "uses no argument 'n'"),
    ],
)
def test_what_cannot_be_read(read, body: str, says: str) -> None:
    """It is said with its cause, and no case is graded."""
    with pytest.raises(RuntimeError) as caught:
        read(body)
    assert says in str(caught.value)


def test_an_argument_that_no_case_has(read) -> None:
    """Pytest would look for a fixture; here the case itself fails, and names it."""
    (case,) = read("def test_it(check, no_such_thing): ...\n")
    with pytest.raises(KeyError, match="no_such_thing"):
        case.function(SimpleNamespace(looked=False), None)


def test_a_file_without_cases(read) -> None:
    """There is nothing to read, and nothing wrong with that."""
    assert read("") == []


def test_two_katas_have_files_of_one_name(tmp_path: Path) -> None:
    """Cases of the kata before are not taken for those of this one."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cases.py").write_text(f"def test_{name}(check): ...\n")
        assert [case.name for case in cases_of(tmp_path / name, Translations())] == [f"test_{name}"]


def test_cases_of_one_kata_in_two_files(tmp_path: Path) -> None:
    """The second file comes behind the first and imports its helpers, in each kata those of its own."""
    for name in ("first", "second"):
        kata = dataclasses.replace(catalog.find("mha"), solution=tmp_path / name)
        kata.solution.mkdir()
        (kata.solution / "cases.py").write_text(f"HELPER = '{name}'\n\ndef test_b(check): ...\n")
        (kata.solution / "cases_more.py").write_text("from cases import HELPER\n\ndef test_a(check): check(HELPER)\n")
        for cases in (cases_of(kata.solution, Translations()), list(rehearsal.cases_of(kata))):
            assert [case.name for case in cases] == ["test_b", "test_a"]
            said: list[str] = []
            cases[1].function(said.append, None)
            assert said == [name]
