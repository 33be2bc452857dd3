"""What the page shows and does: as the commands of the same names, on the same files and history."""

import asyncio
import json
import queue
import re
import socket
from importlib import import_module

import pytest

from grader.errors import ChangedOnDisk
from grader.web.answers import Answer
from grader.web.serve import listening
from grader.web.site import ACTIONS
from grader.workspace import Workspace
from tests.web.conftest import Web

STUB = 'def second():\n    raise NotImplementedError("your turn")\n'


def begun(web: Web, kata: str = "second", kind: str = "") -> dict:
    """Begin something and return what is seen of it."""
    web.ask("start", kata=kata, kind=kind)
    return web.ask("open", kata=kata, kind=kind)["state"]


def graded(web: Web, text: str, state: dict, kata: str = "second", kind: str = "") -> dict:
    """Grade a text over the one that was seen; return what is seen then."""
    web.ask("save", kata=kata, kind=kind, text=text, seen=state["digest"], grade=True)
    return web.judged(state, kata, kind)


def test_a_quick_grading_is_not_counted_out(web: Web, monkeypatch) -> None:
    """What ends within a second is told of when it begins and when it ends: each step costs what the grading needs."""
    told = []
    publish = Answer._publish

    def counted(answer: Answer) -> None:
        publish(answer)
        told.append(answer.speak("en"))

    monkeypatch.setattr(Answer, "_publish", counted)
    graded(web, "pass\n", begun(web))
    assert [one["total"] for one in told if one["checking"]] == [0]


def test_a_round_from_the_task_to_the_pass(web: Web) -> None:
    """Open, begin, fail with a named mistake on its line, pass; terminal and page have one history."""
    opened = web.ask("open", kata="second", kind="")
    assert (opened["state"]["there"], opened["missing"]) == (False, ["first-one"])
    assert "<p>The task.</p>" in opened["brief"]
    assert not web.tool.workspace.joinpath("second.py").exists()
    state = begun(web)
    assert (state["text"], state["verdict"]) == (STUB, None)
    failed = graded(web, "fail: cause\nx = 1\n", state)
    assert failed["verdict"]["kind"] == "failed"
    assert failed["verdict"]["fits"]
    (mark,) = failed["verdict"]["marks"]
    assert (mark["line"], mark["title"]) == (2, "mask-over-heads")
    assert "→ unsqueeze the head dimension" in mark["text"]
    assert web.tool.workspace.joinpath("second.py").read_text() == "fail: cause\nx = 1\n"
    passed = graded(web, "pass\n", failed)
    assert passed["verdict"]["kind"] == "passed"
    while not passed["verdict"]["took"]:
        passed = web.wait(passed)
    assert "2 gradings" in passed["verdict"]["took"]
    assert passed["verdict"]["rating"] == 3
    assert web.ask("rate", kata="second", rating=2)["said"].startswith("second is rated hard")
    status = json.loads(web.tool("status", "second", "--json").stdout)
    assert [one["verdict"] for one in status["gradings"]] == ["failed", "passed"]
    assert web.tool.kept() == ["fail: cause\nx = 1\n", "pass\n"]
    rows = {kata["id"]: kata["state"] for track in web.ask("course")["tracks"] for kata in track["katas"]}
    assert rows["second"] == "passed"


def test_what_another_program_wrote_is_not_overwritten(web: Web) -> None:
    """A save over a text that the page has not seen is refused, and the other text is shown at once."""
    state = begun(web)
    web.tool.answer("fail, by another editor\n")
    refused = web.ask("save", 400 + 9, kata="second", kind="", text="mine\n", seen=state["digest"], grade=True)
    assert refused["kind"] == "ChangedOnDisk"
    assert web.tool.workspace.joinpath("second.py").read_text() == "fail, by another editor\n"
    theirs = web.wait(state)
    assert theirs["text"] == "fail, by another editor\n"
    graded(web, "fail, mine\n", theirs)
    assert web.tool.kept() == ["fail, by another editor\n", "fail, mine\n"]


def test_a_text_too_large_to_be_an_answer(web: Web) -> None:
    """It is refused before anything is written, and one that came by another way ends in one full stop and can go."""
    state = begun(web)
    large = "#" * (1 + (1 << 20))
    refused = web.ask("save", 400, kata="second", kind="", text=large, seen=state["digest"], grade=True)
    assert "larger than 1 MiB" in refused["error"]
    assert web.tool.workspace.joinpath("second.py").read_text() == STUB
    web.tool.answer(large)
    web.tool("reset", "second")
    number = web.ask("history", kata="second", kind="")["versions"][0]["number"]
    web.ask("restore", kata="second", kind="", number=number, lang="zh")
    note = web.ask("open", kata="second", kind="", lang="zh")["state"]["note"]
    assert note.endswith("这不会是一道题的答案。")


def test_a_save_elsewhere_is_seen_and_graded(web: Web) -> None:
    """As in a watch: the page of a kata need not be the editor."""
    state = begun(web)
    web.tool.answer("pass\n")
    seen = web.wait(state)
    while not seen["verdict"]:
        seen = web.wait(seen)
    assert (seen["text"], seen["verdict"]["kind"]) == ("pass\n", "passed")
    web.tool.workspace.joinpath("second.py").unlink()
    while seen["there"]:
        seen = web.wait(seen)


def test_a_file_that_is_no_text_is_said(web: Web) -> None:
    """It fails, is kept as it is, and nothing is saved over it."""
    state = begun(web)
    web.tool.workspace.joinpath("second.py").write_bytes(b"x = '\xe9'\n")
    while state["there"]:
        state = web.wait(state)
    assert "is not UTF-8 text" in state["note"]
    web.ask("save", 400, kata="second", kind="", text="x\n", seen="", grade=True)
    assert web.tool.workspace.joinpath("second.py").read_bytes() == b"x = '\xe9'\n"


def test_a_verdict_is_there_again(web: Web) -> None:
    """After a reload, and in the next `kata web`: the one on this very text, from the history."""
    graded(web, "fail\n", begun(web))
    web.stop()
    web.start()
    state = web.ask("open", kata="second", kind="")["state"]
    assert (state["verdict"]["kind"], state["verdict"]["fits"]) == ("failed", True)


def test_two_tabs_see_the_same(web: Web) -> None:
    """Each in its language."""
    state = begun(web)
    chinese = web.ask("open", kata="second", kind="", lang="zh")
    assert chinese["title"] == "第二题"
    web.ask("save", kata="second", kind="", text="fail\n", seen=state["digest"], grade=True)
    english = web.judged(state)["verdict"]["html"]
    assert "2 failing cases" in english
    found = web.ask("wait", kata="second", kind="", lang="zh", after=chinese["state"]["number"])
    while not found["verdict"]:
        found = web.ask("wait", kata="second", kind="", lang="zh", after=found["number"])
    assert "3 个用例通过了 1 个" in found["verdict"]["html"]


def test_another_save_takes_the_place_of_a_grading(web: Web) -> None:
    """Nobody waits for the verdict on a text that is gone."""
    state = begun(web)
    web.ask("save", kata="second", kind="", text="wait\n", seen=state["digest"], grade=True)
    state = web.wait(state)
    while not state["checking"]:
        state = web.wait(state)
    assert graded(web, "pass\n", state)["verdict"]["kind"] == "passed"
    web.ask("course")  # after what is done when the verdict has been said
    assert [one["verdict"] for one in json.loads(web.tool("status", "second", "--json").stdout)["gradings"]] == [
        "passed"
    ]


def test_an_error_of_the_grader_is_no_failure(web: Web) -> None:
    """It says whose it is."""
    assert "not your answer" in graded(web, "error\n", begun(web))["verdict"]["html"]


def test_hints_go_up_the_ladder(web: Web) -> None:
    """And are noted in the history."""
    begun(web)
    first, second = (web.ask("hint", kata="second", kind="") for _ in range(2))
    assert (first["count"], first["another"]) == ("hint 1 of 3", True)
    assert "<p>Look.</p>" in first["html"]
    assert "<p>Think.</p>" in second["html"]
    assert json.loads(web.tool("status", "second", "--json").stdout)["hints"] == 2


def test_the_solution_comes_after_the_pass(web: Web) -> None:
    """Or to somebody who gives up, which is noted."""
    begun(web)
    assert web.ask("solution", 400, kata="second", kind="", give_up=False)["kind"] == "NotPassedYet"
    assert web.ask("solution", kata="second", kind="", give_up=True)["code"].startswith("def second")
    assert json.loads(web.tool("status", "second", "--json").stdout)["gave_up"]


def test_questions_are_asked_and_rated(web: Web) -> None:
    """A rating of another terminal counts, as in the terminal."""
    found = web.ask("talk", kata="second")["questions"]
    assert [one["id"] for one in found] == ["second/why", "second/how-large"]
    assert "<em>half</em>" in found[1]["answer"]
    rated = {"card": "second/why", "known": found[0]["known"]}
    assert "due" in web.ask("rate-question", **rated, rating=3)["said"]
    assert "Another terminal" in web.ask("rate-question", **rated, rating=1)["said"]
    assert web.ask("rate-question", 400, card="second/../why", known=0, rating=3)


def test_a_debug_round(web: Web) -> None:
    """Its file stands beside the answer; what was planted is shown to somebody who gives up."""
    state = begun(web, "third", "debug")
    assert "def third" in state["text"]
    assert web.ask("open", kata="third", kind="debug")["path"] == "workspace/third_debug.py"
    assert web.ask("hint", kata="third", kind="debug")["another"]
    assert web.ask("solution", 400, kata="third", kind="debug", give_up=False)["kind"] == "NotRepairedYet"
    assert "total = 3 * x" in web.ask("solution", kata="third", kind="debug", give_up=True)["code"]


def test_a_review_from_an_empty_stub(web: Web) -> None:
    """What was not passed cannot be reviewed; the answer stays as it is."""
    assert "not been passed yet" in web.ask("start", 400, kata="second", kind="review")["error"]
    web.tool.passes("second")
    web.tool.days_later(20)
    assert web.ask("course")["due"][0]["id"] == "second"
    state = begun(web, kind="review")
    assert state["text"] == STUB
    assert graded(web, "pass\n", state, kind="review")["verdict"]["kind"] == "passed"
    assert web.tool.workspace.joinpath("second.py").read_text() == "# pass\n"


def test_a_version_is_brought_back(web: Web) -> None:
    """What the file holds meanwhile is kept."""
    failed = graded(web, "fail 1\n", begun(web))
    passed = graded(web, "pass 2\n", failed)
    versions = web.ask("history", kata="second", kind="")["versions"]
    assert [(one["number"], one["verdict"], one["present"]) for one in versions] == [
        (2, "passed", True),
        (1, "failed", False),
    ]
    assert web.ask("version", kata="second", kind="", number=1)["text"] == "fail 1\n"
    web.ask("version", 400, kata="second", kind="", number=3)
    web.ask("restore", kata="second", kind="", number=1)
    while (passed["text"], passed["verdict"]["kind"]) != ("fail 1\n", "failed"):
        passed = web.wait(passed)
    assert web.tool.kept() == ["fail 1\n", "pass 2\n", "fail 1\n"]


def test_a_mock_interview_that_another_terminal_has_ended(web: Web) -> None:
    """What is asked of it then is refused in words that are about it."""
    web.ask("mock-begin", katas=["second"], feedback="none", minutes=30)
    web.tool("mock", "--end")
    for name in ("mock-submit", "mock-told", "mock-questions", "mock-end"):
        refused = web.ask(name, 400)
        assert "another terminal has ended it" in refused["error"]
        assert refused["hint"] == ""


def test_a_mock_interview(web: Web) -> None:
    """Two stages, nothing that helps, three questions, a score card; as `kata mock` has it."""
    begun(web)
    found = web.ask("mock-begin", katas=["second"], feedback="count", minutes=30)["running"]
    assert [one["kata"] for one in found["stages"]] == ["first-one", "second"]
    assert found["left"] > 29 * 60
    assert web.ask("hint", 400, kata="second", kind="")["kind"] == "MockRuns"
    assert web.ask("solution", 400, kata="second", kind="", give_up=True)["kind"] == "MockRuns"
    assert web.ask("mock-begin", 400, katas=[], feedback="none")["kind"] == "UsageError"
    for kata in ("first-one", "second"):
        state = web.ask("open", kata=kata, kind="mock")["state"]
        web.ask("save", kata=kata, kind="mock", text="pass\n", seen=state["digest"], grade=True)
        assert web.wait(state, kata, "mock")["verdict"] is None
        assert web.ask("mock-told")["said"] == "2 of 2 cases pass."
        running = web.ask("mock-submit")["running"]
    assert running["kata"] is None
    asked = web.ask("mock-questions")["questions"]
    assert len(asked) == 3
    for one in asked:
        web.ask("mock-answer", number=one["number"], rating=3, known=one["known"])
    assert web.ask("mock-questions")["questions"] == []
    result = web.ask("mock-end")
    assert "2 of 2 stages passed in time" in result["card"]
    assert len(result["diagnoses"]) == 2
    assert web.ask("mock")["running"] is None
    assert "2 of 2" in web.tool("mock", "--list").stdout


def test_a_mock_interview_hides_the_verdicts_of_its_katas(web: Web) -> None:
    """A page that was open before shows none either, and grades nothing."""
    failed = graded(web, "fail: cause\n", begun(web))
    web.ask("mock-begin", katas=["second"], feedback="none", minutes=30)
    assert web.ask("open", kata="second", kind="")["state"]["verdict"] is None
    web.ask("save", 400, kata="second", kind="", text="fail 2\n", seen=failed["digest"], grade=True)
    after = web.wait(failed)
    assert after["verdict"] is None
    assert "mock interview" in after["note"]


def spoken(web: Web, lang: str) -> dict[str, str]:
    """Return the words of the page."""
    return web.ask("first", kata="", kind="", elsewhere=True, lang=lang)["words"]


def test_the_page_speaks_both_languages(web: Web, english) -> None:
    """Each of its own words, in both."""
    one, other = spoken(web, "en"), spoken(web, "zh")
    same = {key for key in one if one[key] == other[key]}
    assert same == set()
    assert [text for text in other.values() if isinstance(text, str) and english(text)] == []


def test_every_word_of_the_page_is_there(web: Web) -> None:
    """No script asks for a word that nobody has, and none is left over."""
    words = set(spoken(web, "en")) - {"phrases"}
    folder = web.service.site.files
    scripts = "".join(text.decode() for name, text in folder.items() if name.endswith(".js") and name != "editor.js")
    used = set(re.findall(r"\bwords\.(\w+)", scripts)) | {"task", "hints", "talk", "picture", "history", "solution"}
    assert used - {"phrases"} == words


def test_without_the_extra_a_sentence(tool, monkeypatch) -> None:
    """It says what is missing, and what brings it."""
    monkeypatch.setattr("grader.cli.web.find_spec", lambda _name: None)
    result = tool("web", code=2)
    assert "needs starlette, uvicorn" in result.output
    assert 'pip install "attention-kata[web]"' in result.output


def test_from_a_folder_that_is_gone(tool, monkeypatch, tmp_path) -> None:
    """There is no place for files, which is said."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert "Cannot write" in tool("web", "--no-browser", code=3).output


def test_a_port_that_is_taken_is_said(web: Web) -> None:
    """In a sentence, with what to do."""
    result = web.tool("web", "--no-browser", "--port", str(web.port), code=2)
    assert f"Port {web.port} cannot be used" in result.output


def test_a_save_looks_first(tmp_path) -> None:
    """Nothing is written over a text that its writer has not seen; through a link it is the target that is written."""
    workspace = Workspace(tmp_path / "workspace")
    workspace.save("mha", "one\n", None)
    with pytest.raises(ChangedOnDisk):
        workspace.save("mha", "two\n", None)
    workspace.save("mha", "two\n", "one\n")
    assert workspace.path("mha").read_text() == "two\n"
    assert [one.path.read_text() for one in workspace.kept("mha")] == ["one\n"]
    target = tmp_path / "elsewhere.py"
    workspace.path("mha").rename(target)
    workspace.path("mha").symlink_to(target)
    workspace.save("mha", "three\n", "two\n")
    assert workspace.path("mha").is_symlink()
    assert target.read_text() == "three\n"
    assert [one.path.read_text() for one in workspace.kept("mha")] == ["one\n", "two\n"]


def test_each_module_does_what_is_asked_of_it() -> None:
    """The routes are known before the modules are imported that do what they ask."""
    for room, names in ACTIONS.items():
        assert names == tuple(import_module(f"grader.web.{room}").ACTIONS)


def test_the_first_request_brings_all(web: Web) -> None:
    """The kata that the address names, else the current one; none beside a mock interview, or where another is open."""
    begun(web, "third")
    found = web.ask("first", kata="", kind="", elsewhere=False)
    assert (found["opened"]["kata"], found["course"]["current"]) == ("third", "third")
    named = web.ask("first", kata="second", kind="debug", elsewhere=False)["opened"]
    assert named["path"] == "workspace/second_debug.py"
    assert web.ask("first", kata="", kind="", elsewhere=True)["opened"] is None
    web.ask("mock-begin", katas=["second"], minutes=30, feedback="none")
    assert web.ask("first", kata="", kind="", elsewhere=False)["opened"] is None


def test_a_judge_gets_ready_once_somebody_looks(web: Web, monkeypatch) -> None:
    """The page comes first: a judge that gets ready takes all processors."""
    prepared = queue.SimpleQueue()
    monkeypatch.setattr(web.tool.driver.Session, "prepare", lambda _self, *asked: prepared.put(asked))
    monkeypatch.setattr("grader.web.site.WAIT_SECONDS", 0.01)
    web.tool.answer("fail\n")
    state = web.ask("open", kata="second", kind="")["state"]
    assert prepared.empty()
    web.wait(state)
    assert prepared.get(timeout=10) == ("second", "en")
    web.wait(state)
    assert prepared.empty()


def test_a_small_reply_is_sent_at_once() -> None:
    """A reply's body does not wait until the browser has told that it has the head, which takes 40 ms."""

    async def asked() -> int:
        told: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def hear(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            told.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with listening(0) as listener:
            async with await asyncio.start_server(hear, sock=listener):
                _reader, writer = await asyncio.open_connection(*listener.getsockname())
                writer.close()
                return await told

    assert asyncio.run(asked())
