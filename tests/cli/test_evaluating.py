"""prompts and eval, with a made-up grader."""

import json

import pytest

PROBE_GAPS = "can read files outside the allow-list"


def samples(tool, *texts, name="samples.jsonl", task="second"):
    """Write samples whose words tell the made-up grader what to do."""
    path = tool.folder / name
    path.write_text("".join(json.dumps({"task_id": task, "completion": text}) + "\n" for text in texts))
    return path.name


def rows(tool, name="out.jsonl"):
    """Return the lines of results by their samples."""
    return {row["sample"]: row for row in map(json.loads, (tool.folder / name).read_text().splitlines())}


def test_prompts_are_lines_in_the_reader_s_language(tool):
    """One line a task, of all katas or of those that are named."""
    found = [json.loads(line) for line in tool("prompts").stdout.splitlines()]
    assert [line["task_id"] for line in found] == ["first-one", "second", "third"]
    (chinese,) = [json.loads(line) for line in tool("--lang", "zh", "prompts", "second").stdout.splitlines()]
    assert (chinese["title"], chinese["file"], chinese["entry"]) == ("第二题", "second.py", ["second"])
    assert "题目。" in chinese["prompt"]


def test_samples_are_graded_and_summed_up(tool):
    """A line each, equal texts graded once; the summary has each task and pass@k."""
    name = samples(tool, "pass", "fail: cause", "```python\npass\n```", "pass", "fail 2")
    tool.driver.GRADED.clear()
    page = tool("eval", name, "-o", "out.jsonl", "--trust", "--k", "1,5,9").stdout
    found = rows(tool)
    assert [found[number]["reward"] for number in range(5)] == [1, 0, 1, 1, 0]
    assert found[1]["causes"] == ["mask-over-heads"]
    assert [number for number in found if "same_as" in found[number]] == [3]
    assert found[3]["same_as"] == 0
    assert len(tool.driver.GRADED) == 4
    assert len({request.seed for request in tool.driver.GRADED}) == 1
    assert "3/5" in page
    assert "pass@1 60.0 %" in page
    assert "pass@5 100.0 %" in page
    assert "pass@9: no task has 9 samples." in page


def test_a_sandbox_with_gaps_is_for_trusted_samples(tool):
    """Code of strangers is not run where it could read files, and nothing is written."""
    error = tool("eval", samples(tool, "pass"), "-o", "out.jsonl", code=2).stderr
    assert PROBE_GAPS in error
    assert "--trust" in error
    assert rows(tool) == {}


def test_an_error_of_the_grader_is_missing_and_tried_again(tool, monkeypatch):
    """It has no reward, ends with 3, and --resume grades it once more: nothing else."""
    name = samples(tool, "pass", "error", "bug", "fail")
    page = tool("eval", name, "-o", "out.jsonl", "--trust", code=3).stdout
    found = rows(tool)
    assert [found[number]["reward"] for number in range(4)] == [1, None, None, 0]
    assert "failed on 2 samples" in page
    assert "pass@1 50.0 %" in page
    tool.driver.GRADED.clear()
    document = json.loads(tool("eval", name, "-o", "out.jsonl", "--trust", "--resume", "--json", code=3).stdout)
    assert [request.source for request in tool.driver.GRADED] == ["error", "error", "bug", "bug"]
    assert document["tasks"]["second"]["missing"] == 2
    assert sorted(rows(tool)) == [0, 1, 2, 3]


def test_what_is_no_text_has_failed(tool):
    """Halves of characters and megabytes are the sample's failure."""
    name = samples(tool, "pass \ud800", "#" * (1 + (1 << 20)))
    tool("eval", name, "-o", "out.jsonl", "--trust")
    found = rows(tool)
    assert [found[number]["reward"] for number in range(2)] == [0, 0]
    assert "not UTF-8" in found[0]["message"]
    assert "larger than 1 MiB" in found[1]["message"]


def test_resume_takes_the_seed_up(tool):
    """All samples get the same inputs, whenever they are graded."""
    name = samples(tool, "pass", "fail")
    tool("eval", name, "-o", "out.jsonl", "--trust", "--seed", "5")
    tool("eval", name, "-o", "out.jsonl", "--trust", code=2)
    tool("eval", name, "-o", "out.jsonl", "--trust", "--resume", "--seed", "6", code=2)
    samples(tool, "pass", "fail", "pass 2")
    tool("eval", name, "-o", "out.jsonl", "--trust", "--resume")
    assert {row["seed"] for row in rows(tool).values()} == {5}
    assert len(rows(tool)) == 3


def test_shards_and_their_sum(tool):
    """Two shards have all samples between them; --summary takes both files."""
    name = samples(tool, *[f"{'pass' if number % 2 else 'fail'} {number}" for number in range(7)])
    for shard in (1, 2):
        tool("eval", name, "-o", f"{shard}.jsonl", "--trust", "--shard", f"{shard}/2")
    one, two = rows(tool, "1.jsonl"), rows(tool, "2.jsonl")
    assert sorted([*one, *two]) == list(range(7))
    document = json.loads(tool("eval", "--summary", "1.jsonl", "2.jsonl", "--json").stdout)
    assert document["tasks"]["second"] == {"graded": 7, "passed": 3, "missing": 0, "pass@1": pytest.approx(3 / 7)}
    assert "there twice" in tool("eval", "--summary", "1.jsonl", "1.jsonl", code=2).stderr


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "-o names the file"),
        (("-o", "out.jsonl", "--shard", "0/4"), "is no shard"),
        (("-o", "out.jsonl", "--shard", "5/4"), "is no shard"),
        (("-o", "out.jsonl", "--k", "0"), "is no list of numbers"),
        (("-o", "out.jsonl", "--summary"), "--summary takes results"),
        (("--seed", "3", "--summary"), "--summary takes results"),
        (("--address", "h:1", "--summary"), "--summary takes results"),
        (("-o", "out.jsonl", "--address", "h:1"), "--address goes with --engine ray"),
    ],
)
def test_wrong_use(tool, more, said):
    """Each is refused with a sentence before anything is graded."""
    result = tool("eval", samples(tool, "pass"), *more, code=2)
    assert said in " ".join(result.stderr.split())


def test_what_is_no_file_of_results_stays(tool):
    """One line of somebody's without its end is no line that was cut off, neither are the samples themselves."""
    name = samples(tool, "pass")
    whole = (tool.folder / name).read_text()
    for other, text in (("notes.txt", "one line, no newline"), ("one.jsonl", whole.strip()), (name, whole.strip())):
        (tool.folder / other).write_text(text)
        error = tool("eval", name, "-o", other, "--resume", "--trust", code=2).stderr
        assert "has a line that is none of results" in error
        assert (tool.folder / other).read_text() == text
    (tool.folder / "tasks.jsonl").write_text(whole)
    assert "None" not in tool("eval", name, "-o", "tasks.jsonl", "--resume", "--trust", code=2).stderr


def test_a_line_that_was_cut_off_is_graded_again(tool):
    """However little of it was written."""
    name = samples(tool, "pass")
    for text in ('{"ta', '{"task_id": "second", "sample": 0, "verd'):
        (tool.folder / "out.jsonl").write_text(text)
        tool("eval", name, "-o", "out.jsonl", "--resume", "--trust")
        assert rows(tool)[0]["reward"] == 1


def test_no_sample(tool):
    """Is told, and one is no plural."""
    assert "holds no sample" in tool("eval", samples(tool), "-o", "out.jsonl", code=2).stderr
    page = tool("eval", samples(tool, "error"), "-o", "out.jsonl", "--trust", code=3).stdout
    assert "pass@1: no task has 1 sample." in page


def test_a_file_that_is_not_there(tool):
    """Samples that cannot be read are wrong use."""
    assert "nowhere.jsonl cannot be read" in tool("eval", "nowhere.jsonl", "-o", "out.jsonl", code=2).stderr
