"""The learner's files: never lost, whatever happens."""

import errno
import os
from pathlib import Path

import pytest

from grader import workspace as workspace_module
from grader.errors import BadAnswerFile, NoSuchFile, WorkspaceError
from grader.workspace import Workspace, read_answer

STUB = "# stub\n"


@pytest.fixture
def workspace(tmp_path):
    """Return a workspace whose folder does not exist yet."""
    return Workspace(tmp_path / "deep" / "workspace")


def kept(workspace: Workspace) -> list[str]:
    """Return the texts of the kept versions, oldest first."""
    return [version.path.read_text() for version in workspace.kept("masked-softmax")]


def all_texts(workspace: Workspace) -> set[str]:
    """Return the text of every file in the workspace."""
    return {path.read_text() for path in workspace.folder.rglob("*") if path.is_file()}


def fill_the_disk(monkeypatch, after: int = 0) -> None:
    """Let every write fail after some that succeed."""
    real = os.fsync
    calls = []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) > after:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)


def test_start_writes_once(workspace):
    """The first start writes the stub, a second one changes nothing."""
    assert workspace.start("masked-softmax", STUB)
    path = workspace.folder / "masked_softmax.py"
    path.write_text("mine")
    assert not workspace.start("masked-softmax", STUB)
    assert path.read_text() == "mine"
    assert list(workspace.folder.iterdir()) == [path]


def test_start_does_not_follow_a_broken_link(workspace):
    """A link to nowhere is the learner's, too."""
    workspace.folder.mkdir(parents=True)
    workspace.path("mha").symlink_to("nowhere.py")
    assert not workspace.start("mha", STUB)
    assert not (workspace.folder / "nowhere.py").exists()


def test_the_stub_respects_the_umask(workspace):
    """A file has the rights that any program of the user would give it."""
    mask = os.umask(0o027)
    try:
        workspace.start("mha", STUB)
    finally:
        os.umask(mask)
    assert workspace.path("mha").stat().st_mode & 0o777 == 0o640


def test_start_where_hard_links_do_not_work(workspace, monkeypatch):
    """On a file system without hard links the stub is written all the same, and never over a file."""

    def refuse(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert workspace.start("mha", STUB)
    workspace.path("mha").write_text("mine")
    assert not workspace.start("mha", STUB)
    assert all_texts(workspace) == {"mine"}


def test_a_version_is_kept_once_in_a_row(workspace):
    """The newest version is not kept again, an older one is."""
    for text in ("a", "a", "b", "a"):
        workspace.keep("masked-softmax", text)
    assert kept(workspace) == ["a", "b", "a"]


def test_the_name_of_a_version_tells_time_and_content(workspace):
    """UTC time and the first ten digits of SHA-256."""
    path = workspace.keep("mha", "abc")
    (version,) = workspace.kept("mha")
    assert path.name.endswith("Z-ba7816bf8f.py")
    assert version.digest == "ba7816bf8f"
    assert version.at.utcoffset().total_seconds() == 0
    (path.parent / "notes.txt").write_text("the learner's own")
    assert len(workspace.kept("mha")) == 1


def test_a_planted_file_takes_the_place_of_an_older_one(workspace):
    """What was there lies in .attempts, and the answer to the kata is not touched."""
    workspace.start("mha", STUB)
    assert workspace.plant("mha.debug", "planted") is None
    path = workspace.folder / "mha_debug.py"
    path.write_text("repaired")
    moved = workspace.plant("mha.debug", "planted again")
    assert path.read_text() == "planted again"
    assert moved.read_text() == "repaired"
    assert moved.parent == workspace.folder / ".attempts" / "mha.debug"
    assert workspace.path("mha").read_text() == STUB


def test_a_planted_file_on_a_full_disk(workspace, monkeypatch):
    """An older file stays where it is when the new one cannot be written."""
    workspace.plant("mha.debug", "planted")
    workspace.path("mha.debug").write_text("repaired")
    fill_the_disk(monkeypatch)
    with pytest.raises(WorkspaceError, match="the disk is full"):
        workspace.plant("mha.debug", "planted again")
    assert workspace.path("mha.debug").read_text() == "repaired"


def test_when_a_file_was_saved(workspace):
    """The moment of the last change, none for a file that is not there."""
    assert workspace.changed("mha") is None
    workspace.start("mha", STUB)
    os.utime(workspace.path("mha"), (1e9, 1e9))
    assert workspace.changed("mha").isoformat() == "2001-09-09T01:46:40+00:00"


def test_reset_moves_the_file(workspace):
    """What was there lies in .attempts, byte for byte, and the stub in its place."""
    workspace.start("masked-softmax", STUB)
    path = workspace.path("masked-softmax")
    path.write_bytes(b"\xff not even text")
    moved = workspace.reset("masked-softmax", STUB)
    assert path.read_text() == STUB
    assert moved.read_bytes() == b"\xff not even text"


def test_reset_of_the_stub_keeps_nothing(workspace):
    """A stub that nobody touched is not worth keeping."""
    workspace.start("masked-softmax", STUB)
    assert workspace.reset("masked-softmax", STUB) is None
    assert kept(workspace) == []


def test_reset_of_a_stub_in_another_language_keeps_nothing(workspace):
    """A file that nobody has written anything into gives way to the stub, and is no version to keep."""
    workspace.start("masked-softmax", STUB)
    assert workspace.reset("masked-softmax", "# 轮到你了\n", ["# nobody's\n", STUB]) is None
    assert workspace.path("masked-softmax").read_text(encoding="utf-8") == "# 轮到你了\n"
    assert workspace.kept("masked-softmax") == []


def test_reset_of_nothing(workspace):
    """A file that is not there cannot be reset."""
    with pytest.raises(NoSuchFile):
        workspace.reset("mha", STUB)


def test_reset_of_a_link_keeps_what_it_leads_to(workspace, tmp_path):
    """A link gives way to the stub; its target stays as it was, its text is kept."""
    target = tmp_path / "notes.py"
    target.write_text("mine")
    workspace.folder.mkdir(parents=True)
    path = workspace.path("masked-softmax")
    path.symlink_to(target)
    workspace.reset("masked-softmax", STUB)
    assert target.read_text() == "mine"
    assert not path.is_symlink()
    assert path.read_text() == STUB
    assert kept(workspace) == ["mine"]


def test_reset_of_a_folder_in_the_way(workspace):
    """Even a folder of that name is moved, not deleted."""
    path = workspace.path("masked-softmax")
    path.mkdir(parents=True)
    (path / "inside.py").write_text("mine")
    workspace.reset("masked-softmax", STUB)
    assert path.read_text() == STUB
    assert "mine" in all_texts(workspace)


def test_restore_keeps_the_present_file(workspace):
    """What is replaced can be brought back; the same text is not written again."""
    workspace.start("masked-softmax", STUB)
    path = workspace.path("masked-softmax")
    path.write_text("now")
    workspace.restore("masked-softmax", "then", STUB)
    assert path.read_text() == "then"
    assert kept(workspace) == ["now"]
    assert workspace.restore("masked-softmax", "then", STUB) is None
    assert kept(workspace) == ["now"]


@pytest.mark.parametrize("after", [0, 1])
def test_a_full_disk_loses_nothing(workspace, monkeypatch, after):
    """Whichever write fails, the answer is where it was and no half-written file is left."""
    workspace.start("masked-softmax", STUB)
    path = workspace.path("masked-softmax")
    path.write_text("mine")
    with monkeypatch.context() as patch:
        fill_the_disk(patch, after)
        with pytest.raises(WorkspaceError, match="the disk is full"):
            workspace.reset("masked-softmax", STUB)
        with pytest.raises(WorkspaceError, match="the disk is full"):
            workspace.restore("masked-softmax", "other", STUB)
    assert path.read_text() == "mine"
    assert [file for file in workspace.folder.rglob("*") if file.is_file()] == [path]


def test_start_on_a_full_disk_leaves_nothing(workspace, monkeypatch):
    """No half a stub is left behind."""
    fill_the_disk(monkeypatch)
    with pytest.raises(WorkspaceError, match="the disk is full"):
        workspace.start("mha", STUB)
    assert list(workspace.folder.iterdir()) == []


def test_a_folder_without_permission(workspace, monkeypatch):
    """A read-only folder is named with the way out."""

    def refuse(*_, **__):
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(WorkspaceError, match="no permission") as raised:
        workspace.start("mha", STUB)
    assert "KATA_WORKSPACE" in raised.value.hint
    assert raised.value.exit_code == 3


def test_a_save_during_reset_is_not_lost(workspace, monkeypatch):
    """What an editor saves while the version is being copied goes along."""
    workspace.start("masked-softmax", STUB)
    path = workspace.path("masked-softmax")
    path.write_text("first")
    real = Workspace._keep

    def keep_slowly(self, attempts, data):
        kept_at = real(self, attempts, data)
        path.write_text("saved meanwhile")
        return kept_at

    monkeypatch.setattr(Workspace, "_keep", keep_slowly)
    workspace.reset("masked-softmax", STUB)
    assert all_texts(workspace) == {STUB, "saved meanwhile"}


def test_a_file_that_appears_during_reset_is_not_overwritten(workspace, monkeypatch):
    """Another program's new file stays, and the old one is kept."""
    workspace.start("masked-softmax", STUB)
    path = workspace.path("masked-softmax")
    path.write_text("old")
    real = Workspace._move

    def move_and_lose_the_race(self, *args):
        moved = real(self, *args)
        path.write_text("new from the editor")
        return moved

    monkeypatch.setattr(Workspace, "_move", move_and_lose_the_race)
    with pytest.raises(WorkspaceError, match="another program"):
        workspace.reset("masked-softmax", STUB)
    assert all_texts(workspace) == {"old", "new from the editor"}


def test_two_versions_in_the_same_microsecond(workspace, monkeypatch):
    """A name that is taken is not written over."""
    times = iter([*[workspace_module._now()] * 2, *[workspace_module._now()] * 2])
    workspace.keep("masked-softmax", "a")
    first = workspace.kept("masked-softmax")[0]
    first.path.rename(first.path.with_name("20200101T000000.000000Z-ca978112ca.py"))
    monkeypatch.setattr(workspace_module, "_now", lambda: next(times))
    for text in ("b", "a", "b"):
        workspace.keep("masked-softmax", text)
    assert sorted(kept(workspace)) == ["a", "a", "b", "b"]


def test_an_answer_is_read_as_it_is(tmp_path):
    """Line ends and empty files stay, a byte order mark goes."""
    path = tmp_path / "mha.py"
    for data, text in (
        (b"", ""),
        (b"a\r\nb", "a\r\nb"),
        (b"\xef\xbb\xbfa = '\xe4\xb8\xad'", "a = '中'"),
        (b"\0", "\0"),
    ):
        path.write_bytes(data)
        assert read_answer(path) == text
    link = tmp_path / "link.py"
    link.symlink_to(path)
    assert read_answer(link) == "\0"


def test_an_answer_of_just_one_mebibyte(tmp_path):
    """The limit itself is allowed, one byte more is not."""
    path = tmp_path / "mha.py"
    path.write_bytes(b"#" * (1 << 20))
    assert len(read_answer(path)) == 1 << 20
    path.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(BadAnswerFile, match="larger than 1 MiB"):
        read_answer(path)


def test_what_is_no_answer(tmp_path):
    """Folders, pipes, devices, loops of links and missing files are told apart, and none makes the tool wait."""
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "bytes.py").write_bytes(b"ok\nok\n\xc3(\n")
    for name, problem in {
        "": "is a folder",
        "pipe.py": "is not a regular file",
        "/dev/zero": "is not a regular file",
        "loop.py": "cannot be read",
        "a\0b.py": "cannot be read",
        "bytes.py": "line 3 has the byte 0xc3",
    }.items():
        with pytest.raises(BadAnswerFile, match=problem) as raised:
            read_answer(tmp_path / name)
        assert raised.value.exit_code == 2
    with pytest.raises(NoSuchFile):
        read_answer(tmp_path / "missing.py")
