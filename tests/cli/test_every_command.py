"""Every command with nothing, with --help, with nonsense, from another folder, through the shell's completion."""

import pytest

from grader.cli import COMMANDS
from grader.cli.help import speak

GROUPS = ("server", "dev")
# Every command below them, too; `watch` without an answer ends at once.
EVERY = [*((name,) for name in COMMANDS), ("server", "status"), ("server", "stop"), ("dev", "check")]
every = pytest.mark.parametrize("command", EVERY, ids=" ".join)

WITHOUT_ANYTHING = dict.fromkeys(COMMANDS, 2) | {
    "today": 0,
    "prompts": 0,
    "review": 0,
    "talk": 0,
    "mock": 0,
    "list": 0,
    "status": 0,
    "doctor": 0,
    "server": 0,
    "dev": 0,
    "help": 0,
}
WITHOUT_ANYTHING |= {"server status": 0, "server stop": 0, "dev check": 2}


@pytest.fixture(autouse=True)
def _no_servers(monkeypatch):
    """Let `server stop` find none of the tests beside this one."""
    monkeypatch.setattr("grader.client.standing.servers", list)


@pytest.fixture(autouse=True)
def _no_page(monkeypatch):
    """Let `web`, which would stay until somebody ends it, lack what it needs."""
    monkeypatch.setattr("grader.cli.web.NEEDED", ("a_package_that_nobody_has",))


@pytest.mark.parametrize(("lang", "said"), [("en", "0 of 3 passed"), ("zh", "共 3 题")])
def test_the_tool_without_arguments_says_what_comes_next(tool, lang, said):
    """`kata` alone is a question, and no error: where one stands, and what to type."""
    page = tool(KATA_LANG=lang, LANGUAGE="").stdout
    assert said in page
    assert "→ `kata start first-one`" in page
    assert "kata --help" in page
    assert tool("--lang", lang, LANGUAGE="").stdout == page
    speak(["--lang", "en"])


@every
def test_with_nothing(tool, command):
    """A command without arguments does its work, shows its help or says in a sentence what it needs."""
    result = tool(*command, code=WITHOUT_ANYTHING[" ".join(command)])
    assert result.output.strip()


@every
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_with_help(tool, command, option):
    """--help always works."""
    assert "Usage: kata" in tool(*command, option).stdout


@every
@pytest.mark.one_of_many(of=3)
@pytest.mark.parametrize("nonsense", ["--nonsense", "no such thing", "", "\x1b[2J", "../x.py", "-"])
def test_with_nonsense(tool, command, nonsense):
    """Nonsense is wrong use, and never reaches the terminal as it is."""
    result = tool(*command, nonsense, code=2)
    assert "\x1b" not in result.output


@every
def test_from_a_folder_that_is_gone(tool, command, monkeypatch, tmp_path):
    """A folder that somebody has removed under the shell is no reason for a traceback."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    code = WITHOUT_ANYTHING[" ".join(command)]
    tool(*command, code=3 if command == ("mock",) else code)  # there is no place for its file


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shells_completion_can_be_set_up(tool, shell):
    """What the shell reads at its start is a script."""
    assert "_KATA_COMPLETE" in tool(_KATA_COMPLETE=f"{shell}_source").stdout


@pytest.mark.one_of_many(of=4)
@pytest.mark.parametrize("words", ["kata ", *(f"kata {' '.join(command)} " for command in EVERY)])
@pytest.mark.parametrize("incomplete", ["", "s", "-", "--", "workspace/", "\x1b"])
def test_the_shells_completion(tool, words, incomplete):
    """Each Tab is answered, for whatever stands before it."""
    environment = {"COMP_WORDS": words + incomplete, "COMP_CWORD": str(len(words.split()))}
    tool(_KATA_COMPLETE="bash_complete", **environment)


def test_what_the_shell_completes(tool):
    """Commands, katas and the paths of files."""

    def completed(words, number):
        return tool(_KATA_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(number)).stdout.split()

    assert completed("kata gr", 1) == ["plain,grade"]
    assert completed("kata grade se", 2) == ["plain,second"]
    assert completed("kata review --rate ", 3) == ["plain,again", "plain,hard", "plain,good", "plain,easy"]
    assert completed("kata --lang ", 2) == ["plain,en", "plain,zh"]
    assert completed("kata help r", 2) == ["plain,rules", "plain,reset", "plain,restore", "plain,review", "plain,repro"]
    assert completed("kata hint workspace/se", 2) == ["file,workspace/se"]
