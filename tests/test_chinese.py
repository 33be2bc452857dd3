"""A session in Chinese, as a terminal shows it, from the list to a named mistake: no English but code and names."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from grader import catalog, wording
from grader.client.session import Request, Session

pytestmark = [pytest.mark.grades, pytest.mark.xdist_group("chinese")]

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "tests" / "demo" / "mha.py"
PLANTED = "# demo\n"
ENDS = {
    "stub": 'raise NotImplementedError("写在这里")',
    "nothing": "return None",
    "generator": "yield scores",
    "list": "return [scores, scores]",
    "shape": "return scores.sum(dim)",
    "integers": "return scores.long()",
    "number": "return 1.5",
    "infinite": "return scores / 0",
    "no gradient": "return torch.softmax(scores.detach(), dim)",
    "in place": "return torch.softmax(scores.mul_(2), dim)",
    "on the CPU": "return torch.softmax(scores.cpu(), dim)",
    "exit": "import os\n    os._exit(3)",
    "crash": "import os\n    os.abort()",
    "loop": "while True: pass",
    "no end": "return masked_softmax(scores)",
    "interrupt": "raise KeyboardInterrupt",
    "skip": "import pytest\n    pytest.skip()",
    "files": 'open("/etc/passwd")',
    "memory": "return torch.empty(1 << 40)",
    "flood": 'print("x" * (9 << 20))',
    "forbidden": "return torch.masked.softmax(scores, dim)",
    "unloadable": "return (",
}


@pytest.fixture(scope="module")
def chinese_session():
    """A server for a client who reads Chinese."""
    with Session(call_seconds=1.0) as session:
        yield session


class Terminal:
    """A terminal of eighty columns in which somebody types commands."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        here = {"PYTHONPATH": str(ROOT), "KATA_HOME": str(folder / "home"), "LANG": "zh_CN.UTF-8"}
        self._environment = environment | here | {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "40"}

    def __call__(self, *arguments: str, code: int = 0) -> str:
        """Type a command and return all that the terminal gets to see."""
        ours, theirs = pty.openpty()
        streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        command = [sys.executable, "-m", "grader", *arguments]
        with subprocess.Popen(command, cwd=self.folder, env=self._environment, **streams) as process:
            os.close(theirs)
            seen = b""
            while part := _read(ours):
                seen += part
        os.close(ours)
        text = seen.decode()
        assert process.returncode == code, text
        return text

    def write(self, text: str) -> None:
        """Save an answer to mha."""
        (self.folder / "workspace" / "mha.py").write_text(text, encoding="utf-8")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the other end is closed
        return b""


@pytest.mark.one_of_many(of=4)
def test_a_session(tmp_path, neutral_environment, english):
    """Every page of a session reads Chinese; the mistake is named in Chinese."""
    kata = Terminal(tmp_path, neutral_environment)
    said = [kata("list"), kata("--help"), kata("start", "mha"), kata("grade", code=1)]
    lines = DEMO.read_text(encoding="utf-8").splitlines(keepends=True)[1:]
    kata.write("".join(line for line in lines if not line.endswith(PLANTED)))
    verdict = kata("grade", code=1)
    named = next(line for line in verdict.splitlines() if "三维掩码直接广播" in line)
    assert "第 b 个头" in named
    said += [verdict, kata("hint"), kata("status"), kata("status", "mha"), kata("repro"), kata("solution", code=2)]
    kata.write("".join(line.replace(PLANTED, "\n") for line in lines))
    said += [kata("grade"), kata("restore", "--list"), kata("restore"), kata("reset"), kata("list"), kata("doctor")]
    assert english("\n".join(said)) == []
    script = (tmp_path / "workspace" / "repro_mha.py").read_text(encoding="utf-8")
    assert [piece.text for piece in wording.pieces(script) if english(piece.text)] == []
    assert wording.YOUR_TURN["zh"] in (tmp_path / "workspace" / "mha.py").read_text(encoding="utf-8")


@pytest.mark.one_of_many(of=4)
@pytest.mark.parametrize("name", ENDS)
def test_each_way_to_fail(chinese_session, english, name):
    """Whatever an answer does, the report says it in Chinese; its keys and ids stay."""
    source = f"import torch\n\n\ndef masked_softmax(scores, mask=None, dim=-1):\n    {ENDS[name]}\n"
    request = Request("masked-softmax", source, "masked_softmax.py", seed=3, case="one_small_matrix", lang="zh")
    report = chinese_session.grade(request)
    assert report["verdict"] == "failed"
    ids = {case["id"].split("[")[0].split("/")[1] for case in report["cases"]}
    titles = {case["title"].split(" [")[0] for case in report["cases"]}
    one_message_for_all = bool(report["message"]) and name == "unloadable"
    assert (ids, titles) == ((set(), set()) if one_message_for_all else ({"one_small_matrix"}, {"一个小矩阵"}))
    said = [report["message"], *report["sandbox_gaps"]]
    for case in report["cases"]:
        said += [case["about"], case["message"], *(remark["message"] for remark in case["remarks"])]
    for mistake in report["mistakes"]:
        said += [mistake["title"], mistake["explain"], mistake["nudge"]]
    assert [text for text in said if english(text)] == []


def test_a_case_is_found_by_either_title(chinese_session):
    """--case finds a case by its id, by its name in English words and by its title in Chinese."""
    source = catalog.find("masked-softmax").reference()
    for text in ("core/one_small", "one small matrix", "一个小矩阵"):
        request = Request("masked-softmax", source, "masked_softmax.py", seed=3, case=text, lang="zh")
        assert chinese_session.grade(request)["verdict"] == "passed"


def test_one_server_for_both_languages(chinese_session):
    """A server that graded in one language grades in the other, with the same ids and outcomes."""
    stubs = catalog.find("masked-softmax").stubs()
    reports = {}
    for lang, source in zip(("en", "zh", "en"), (*stubs, stubs[1]), strict=True):
        request = Request("masked-softmax", source, "masked_softmax.py", seed=3, case="one_small", lang=lang)
        reports[lang] = chinese_session.grade(request)
    assert "nothing is written yet" in reports["en"]["message"]
    assert "还没有写任何内容" in reports["zh"]["message"]
    assert [case["id"] for case in reports["en"]["cases"]] == [case["id"] for case in reports["zh"]["cases"]]
    assert json.dumps(reports["en"]["families"]) == json.dumps(reports["zh"]["families"])
