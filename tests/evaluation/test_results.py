"""Samples and results in files: nothing is lost, and nothing is there twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.evaluation.results import Results, row, tallies
from grader.evaluation.samples import LONGEST_LINE, Samples

REPORT = {
    "kata": "masks",
    "verdict": "passed",
    "families": {"core": {"passed": 1, "total": 1}},
    "causes": [],
    "message": "",
    "seed": 7,
    "seconds": 0.12345,
}


def write(path: Path, *samples: tuple[str, str]) -> Path:
    """Write samples: task and completion."""
    lines = [json.dumps({"task_id": task, "completion": text, "model": "m"}) for task, text in samples]
    path.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    return path


@pytest.fixture
def samples(tmp_path: Path) -> Samples:
    """Four samples for two katas, two of them alike."""
    pairs = ("masks", "a = 1"), ("alibi", "b = 1"), ("masks", "```python\na = 1```"), ("masks", "```\na = 1\n```")
    return Samples(write(tmp_path / "samples.jsonl", *pairs))


def report(**more: object) -> dict:
    """Return a report with other values."""
    return REPORT | more


def add(results: Results, samples: Samples, number: int, kata: str = "masks", **more: object) -> None:
    """Write the line of one sample."""
    results.add(row(report(kata=kata, **more), number, samples.digest(kata, number), None))


def test_samples_are_counted_by_kata_in_the_order_of_the_course(samples: Samples) -> None:
    """The first of a kata is number 0; equal texts stand together, whatever was around them."""
    assert samples.counts() == {"masks": 3, "alibi": 1}
    assert list(samples.grouped()) == [("masks", [0]), ("masks", [1]), ("masks", [2]), ("alibi", [0])]


def test_equal_texts_stand_together(tmp_path: Path) -> None:
    """Each text is read and graded once."""
    samples = Samples(write(tmp_path / "s.jsonl", *[("masks", text) for text in ("a", "b", "a", "```\na```", "a")]))
    groups = list(samples.grouped())
    assert groups == [("masks", [0, 2, 4]), ("masks", [1]), ("masks", [3])]
    with samples.path.open("rb") as file:
        assert [samples.read(file, *group).source for group in groups[:2]] == ["a", "b"]


def test_shards_are_all_of_it_and_each_once(tmp_path: Path) -> None:
    """Three shards have every text once between them, and equal ones in the same."""
    texts = [f"x = {number % 7}" for number in range(40)]
    samples = Samples(write(tmp_path / "s.jsonl", *[(task, text) for text in texts for task in ("masks", "alibi")]))
    parts = [list(samples.grouped((which, 3))) for which in (1, 2, 3)]
    numbers = [(kata, number) for part in parts for kata, group in part for number in group]
    assert sorted(numbers) == sorted((kata, number) for kata in ("masks", "alibi") for number in range(40))
    assert all(parts)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: it is no JSON document"),
        ("[" * 100_000, "line 2: it is no JSON document"),
        ("[1]", "line 2: a sample has `task_id` and `completion`"),
        ('{"task_id": "masks"}', "line 2: a sample has"),
        ('{"task_id": "masks", "completion": null}', "line 2: `task_id` and `completion` are texts"),
        ('{"task_id": "nomask", "completion": ""}', "line 2: There is no kata 'nomask'"),
        ('{"task_id": "Masks", "completion": ""}', "line 2: the kata is called masks"),
        ('{"task_id": "../masks", "completion": ""}', "line 2: There is no kata"),
    ],
)
def test_what_is_no_sample_is_named_by_its_line(tmp_path: Path, line: str, said: str) -> None:
    """Before anything is graded."""
    path = write(tmp_path / "s.jsonl", ("masks", ""))
    path.write_text(path.read_text().strip() + f"\n{line}\n")
    with pytest.raises(UsageError) as raised:
        Samples(path)
    assert said in raised.value.message


def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    """Nobody reads gigabytes into memory to find that out."""
    path = tmp_path / "s.jsonl"
    with path.open("wb") as file:
        file.truncate(4 * LONGEST_LINE)
    with pytest.raises(UsageError, match="longer than 16 MiB"):
        Samples(path)


def test_a_file_that_changes_meanwhile_is_noticed(samples: Samples) -> None:
    """Nothing is graded under the name of another sample."""
    write(samples.path, ("masks", "a = 2"), ("alibi", "b = 1"), ("masks", "a = 1"), ("masks", "a = 1"))
    with samples.path.open("rb") as file, pytest.raises(UsageError, match="has changed since it was opened"):
        samples.read(file, "masks", [0])


def test_the_line_of_a_sample() -> None:
    """An error of the grader has no reward; what a learner's file says is cleaned and cut."""
    assert row(report(), 3, "d", None) == {
        "task_id": "masks",
        "sample": 3,
        "verdict": "passed",
        "reward": 1,
        "families": REPORT["families"],
        "causes": [],
        "message": "",
        "seed": 7,
        "seconds": 0.123,
        "digest": "d",
    }
    assert row(report(verdict="error"), 0, "", None)["reward"] is None
    assert row(report(verdict="failed"), 0, "", 2)["reward"] == 0
    assert row(report(), 0, "", 2)["same_as"] == 2
    assert len(row(report(message="\x1b[2J" + "x" * 9999), 0, "", None)["message"]) == 500


def test_a_file_that_is_there_is_not_written(samples: Samples, tmp_path: Path) -> None:
    """Results are gone on with only where that was asked for."""
    path = tmp_path / "out.jsonl"
    with Results(path, samples, resume=False) as results:
        add(results, samples, 0)
    with pytest.raises(UsageError, match="is there already"):
        Results(path, samples, resume=False)
    with Results(path, samples, resume=True) as results:
        assert results.is_done("masks", 0)
        assert not results.is_done("masks", 1)
        assert results.seed == 7


def test_a_line_that_was_cut_off_goes(samples: Samples, tmp_path: Path) -> None:
    """Of a kill in the middle of a line nothing stays, at whatever byte it came."""
    path = tmp_path / "out.jsonl"
    with Results(path, samples, resume=False) as results:
        add(results, samples, 0)
        add(results, samples, 2)
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        with Results(path, samples, resume=True) as results:
            assert [results.is_done("masks", number) for number in range(3)] == [cut >= first, False, False]
            add(results, samples, 1)
        assert len(path.read_bytes().splitlines()) == 1 + (cut >= first)
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_errors_of_the_grader_are_graded_again(samples: Samples, tmp_path: Path) -> None:
    """Their lines make room, and everything else stays as it was."""
    path = tmp_path / "out.jsonl"
    with Results(path, samples, resume=False) as results:
        add(results, samples, 0, verdict="error", seed=None)
        add(results, samples, 2)
        add(results, samples, 0, "alibi", verdict="error")
    kept = path.read_bytes().splitlines()[1]
    with Results(path, samples, resume=True) as results:
        assert [results.is_done("masks", number) for number in range(3)] == [False, False, True]
        add(results, samples, 0)
    assert path.read_bytes().splitlines()[0] == kept
    assert tallies([path])["masks"].missing == 0


def test_results_of_other_samples_are_refused(samples: Samples, tmp_path: Path) -> None:
    """By the text, not by the number."""
    path = tmp_path / "out.jsonl"
    with Results(path, samples, resume=False) as results:
        add(results, samples, 0)
    others = Samples(write(tmp_path / "others.jsonl", ("masks", "a = 3")))
    with pytest.raises(UsageError, match="about other samples"):
        Results(path, others, resume=True)
    path.write_text("what is this\nand this\n")
    with pytest.raises(UsageError, match="none of results"):
        Results(path, samples, resume=True)


def test_two_commands_do_not_write_one_file(samples: Samples, tmp_path: Path) -> None:
    """The second is refused, also once the first has removed errors from the file."""
    path = tmp_path / "out.jsonl"
    with Results(path, samples, resume=False) as results:
        add(results, samples, 0, verdict="error")
        with pytest.raises(UsageError, match="being written by another command"):
            Results(path, samples, resume=True)
    with Results(path, samples, resume=True), pytest.raises(UsageError, match="being written"):
        Results(path, samples, resume=True)


def test_shards_are_summed_up(samples: Samples, tmp_path: Path) -> None:
    """Files of several shards count together; a sample that is in two of them is refused."""
    paths = [tmp_path / "1.jsonl", tmp_path / "2.jsonl"]
    for number, path in enumerate(paths):
        with Results(path, samples, resume=False) as results:
            add(results, samples, number, verdict=("passed", "failed")[number])
    found = tallies(paths)["masks"]
    assert (found.graded, found.passed) == (2, 1)
    with pytest.raises(UsageError, match="sample 0 of masks is there twice"):
        tallies([paths[0], paths[0]])


def test_a_folder_that_cannot_be_written(samples: Samples, tmp_path: Path) -> None:
    """That is wrong use, before anything is graded."""
    with pytest.raises(UsageError, match="cannot be written"):
        Results(tmp_path / "nowhere" / "out.jsonl", samples, resume=False)
