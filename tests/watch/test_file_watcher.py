"""The file that `kata watch` looks at: what is told of it, and when."""

import os
import queue
import shutil
import time

import pytest

from grader.watch import file_watcher


@pytest.fixture
def sights(tmp_path):
    """A watcher of a file, and what it tells."""
    told = queue.SimpleQueue()
    path = tmp_path / "folder" / "answer.py"
    path.parent.mkdir()
    path.write_text("one\n")
    looking = file_watcher.FileWatcher(path, told.put)
    assert told.get(timeout=20).source == "one\n"
    yield path, told
    looking.close()


def test_a_half_written_file_is_not_told(sights, monkeypatch):
    """What is empty, ends within a line or within a character is believed only when it stays so."""
    path, told = sights
    monkeypatch.setattr(file_watcher, "BREATH_SECONDS", 60.0)
    monkeypatch.setattr(file_watcher, "EMPTY_SECONDS", 60.0)
    for half in (b"", b"two\nthr", b"two\n# \xe4\xb8"):
        path.write_bytes(half)
    path.write_text("two\nthree\n")
    assert told.get(timeout=20).source == "two\nthree\n"
    assert told.empty()


def test_a_file_is_empty_for_a_moment_while_it_is_saved(sights):
    """A machine that is busy may stop between the emptying and the writing; nobody waits for a verdict on nothing."""
    path, told = sights
    path.write_text("")
    time.sleep(4 * file_watcher.BREATH_SECONDS)
    path.write_text("two\n")
    assert told.get(timeout=20).source == "two\n"
    path.write_text("")
    assert told.get(timeout=20).source == ""


def test_a_file_without_a_last_newline_is_told(sights):
    """It only takes a moment longer."""
    path, told = sights
    path.write_text("two")
    assert told.get(timeout=20).source == "two"


def test_without_events(sights, monkeypatch):
    """Where the system refuses to send events, looking does."""
    path, told = sights

    def refused(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("watchfiles.watch", refused)
    shutil.rmtree(path.parent)
    assert isinstance(told.get(timeout=20), file_watcher.Gone)
    path.parent.mkdir()
    path.write_text("two\n")
    assert told.get(timeout=20).source == "two\n"
    before = path.stat()
    path.write_text("six\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert told.get(timeout=20).source == "six\n"


def test_two_saves_within_a_second_where_the_library_polls(tmp_path, monkeypatch):
    """Its polling compares whole seconds; both are told all the same."""
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "1")
    told = queue.SimpleQueue()
    path = tmp_path / "answer.py"
    path.write_text("one\n")
    looking = file_watcher.FileWatcher(path, told.put)
    for text in ("one\n", "two\n", "six\n"):
        path.write_text(text)
        while told.get(timeout=20).source != text:
            pass
    looking.close()


def test_the_target_of_a_link(tmp_path):
    """A link to a file elsewhere is followed, whose folder sends no events here."""
    told = queue.SimpleQueue()
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text("one\n")
    (tmp_path / "here").mkdir()
    link = tmp_path / "here" / "answer.py"
    link.symlink_to(elsewhere)
    looking = file_watcher.FileWatcher(link, told.put)
    assert told.get(timeout=20).source == "one\n"
    elsewhere.write_text("two\n")
    assert told.get(timeout=20).source == "two\n"
    looking.close()
