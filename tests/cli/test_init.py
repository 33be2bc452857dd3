"""What `kata init` writes, used as an editor, a test explorer and a shell use it."""

import errno
import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from grader.formats.projects import TESTS
from tests.conftest import RealTool

BIN = Path(sys.executable).parent


def matcher(tool, label):
    """Return a task's problem matcher as VS Code would read it."""
    document = json.loads((tool.folder / ".vscode" / "tasks.json").read_text())
    (task,) = (task for task in document["tasks"] if task["label"] == label)
    return task["problemMatcher"]


def problems(found, text):
    """Return what a matcher finds in the output of a task."""
    pattern = found["pattern"]
    names = ("file", "line", "column", "severity", "message", "code")
    lines = (re.search(pattern["regexp"], line) for line in text.splitlines())
    return [{name: line[pattern[name]] for name in names} for line in lines if line]


def test_the_problem_matcher_reads_a_grading(tool):
    """Its expression finds file, line, column, severity, message and name in what the task prints."""
    tool("init", "--vscode")
    tool.answer("fail: cause\n    then\n")
    output = tool("grade", str(tool.workspace / "second.py"), "--format", "lines", code=1).stdout
    assert problems(matcher(tool, "kata: grade this file"), output) == [
        {
            "file": "workspace/second.py",
            "line": "2",
            "column": "5",
            "severity": "error",
            "message": "mask over heads",
            "code": "mask-over-heads",
        }
    ]
    assert (tool.folder / "workspace/second.py").exists(), "relative to the folder of the task"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_background_matcher_reads_a_watch(tool, terminal, lang):
    """Each grading lies between a line that begins and one that ends, in a terminal as VS Code gives one."""
    tool("init", "--vscode")
    found = matcher(tool, "kata: watch this file")
    begins, ends = (re.compile(found["background"][key]) for key in ("beginsPattern", "endsPattern"))
    path = tool.answer("fail: cause\n")
    watch = terminal(
        tool.process, "--lang", lang, "watch", str(path), "--format", "lines", environment={"LC_ALL": "C.UTF-8"}
    )
    texts = [watch.until("kata: graded workspace/second.py")]
    path.write_text("pass\n")
    texts.append(watch.until("kata: graded workspace/second.py"))
    graded = [[line.strip() for line in text.splitlines() if line.strip()] for text in texts]
    for lines in graded:
        assert begins.search(lines[0])
        assert ends.search(lines[-1])
        assert not any(begins.search(line) or ends.search(line) for line in lines[1:-1])
    assert [len(problems(found, "\n".join(lines))) for lines in graded] == [1, 0]
    assert "\x1b[2J" not in watch.log


def test_one_thing_at_a_time(tool):
    """Both are told to exclude each other, none to be asked for."""
    assert "exclude each other" in tool("init", "--vscode", "--pytest", code=2).stderr
    assert "says what is set up" in tool("init", code=2).stderr


def test_nothing_is_overwritten(tool):
    """A file that is there stays, and --print shows what would be written."""
    for option, name in (("--vscode", ".vscode/tasks.json"), ("--pytest", "test_katas.py")):
        assert "is written" in tool("init", option).stdout
        path = tool.folder / name
        written = path.read_text()
        assert tool("init", option, "--print").stdout == written
        assert "as it should be" in tool("init", option).stdout
        path.write_text("mine")
        assert "is there already" in tool("init", option, code=2).stderr
        assert path.read_text() == "mine"
    tool("init", code=2)
    tool("init", "--vscode", "--pytest", code=2)


def test_a_folder_that_cannot_be_written(tool, monkeypatch):
    """What belongs into the folder one is in is not helped by another workspace."""

    def refuse(*_arguments, **_options):
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(Path, "open", refuse)
    error = tool("init", "--vscode", code=3).stderr
    assert "you have no permission to write there" in error
    assert "--print shows what would be written" in error
    assert "--workspace" not in error


def test_a_workspace_elsewhere_is_named(tool, tmp_path):
    """Tests find the answers where they lie."""
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    text = tool("--workspace", str(elsewhere), "init", "--pytest", "--print").stdout
    assert f"WORKSPACE = Path({str(elsewhere)!r})" in text
    compile(text, "test_katas.py", "exec")


def test_there_is_no_plugin() -> None:
    """A plugin of pytest's would be loaded inside the judge, which collects cases with it."""
    plugins = metadata.entry_points(group="pytest11")
    assert [point for point in plugins if point.value.startswith("grader")] == []
    assert "conftest" not in TESTS


@pytest.mark.one_of_many(of=3)
def test_a_test_explorer_collects_and_runs(real: RealTool) -> None:
    """Collection starts no grading and lists each family; a run grades once and fails where a family does."""
    real.write("return x + 2")
    real("init", "--pytest")
    command = (real.python, "-m", "pytest", "-p", "no:cacheprovider", "-q", "test_katas.py")
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(real.scratch), "KATA_SERVER": "off"}

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *options], cwd=real.folder, env=environment, capture_output=True, text=True, check=False
        )

    collected = run("--collect-only").stdout.splitlines()
    assert collected[:3] == [f"test_katas.py::test_answer[double-{family}]" for family in ("core", "dtype", "contract")]
    failed = run()
    assert failed.returncode == 1, failed.stdout + failed.stderr
    assert "one number\ndouble(x (1,))\nfirst wrong entry" in failed.stdout
    real.write("if not hasattr(x, 'dtype'): raise TypeError('no tensor')\nreturn 2 * x")
    passed = run()
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "3 passed" in passed.stdout


@pytest.fixture
def bash(terminal, tmp_path):
    """A bash in a terminal that completes `kata`, as docs/editor.md says."""
    (tmp_path / "rc").write_text(f'PATH={BIN}:$PATH\nPS1="ready> "\neval "$(_KATA_COMPLETE=bash_source kata)"\n')

    def start(*arguments, environment, **more):
        kept = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "LANG": "C.UTF-8",
            "KATA_HOME": str(tmp_path / "home"),
        }
        return subprocess.Popen(["bash", *arguments], env=kept | environment, cwd=tmp_path, **more)

    return terminal(start, "--noprofile", "--rcfile", str(tmp_path / "rc"), "-i")


@pytest.mark.skipif(not (BIN / "kata").exists(), reason="kata is not installed as a command here")
def test_a_real_bash_completes(bash) -> None:
    """Commands, options and names of katas."""
    bash.until("ready> ")
    bash.press("kata gra\t")
    bash.until("kata grade ")
    bash.press("masked\t")
    bash.until("masked-softmax ")
    bash.press("--for\t")
    bash.until("--format ")
    bash.press("gradesc\t")
    bash.until("gradescope ")


@pytest.mark.skipif(not (BIN / "kata").exists(), reason="kata is not installed as a command here")
@pytest.mark.parametrize(
    ("shell", "says"), [("bash", "complete -o nosort"), ("zsh", "compdef"), ("fish", "complete --no-files")]
)
def test_each_shell_has_a_script(shell, says) -> None:
    """What docs/editor.md has a shell evaluate is there for all three."""
    environment = {"_KATA_COMPLETE": f"{shell}_source", "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    script = subprocess.run([BIN / "kata"], env=environment, capture_output=True, text=True, check=True).stdout
    assert says in script
    page = (Path(__file__).parents[2] / "docs" / "editor.md").read_text(encoding="utf-8")
    assert f"_KATA_COMPLETE={shell}_source kata" in page
