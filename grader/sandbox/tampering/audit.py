"""The audit hook: it cannot be removed, and sees who looks into the running program.

PyTorch and the standard library use frames, code objects and ctypes all the time; what counts is what the learner's own
code does, directly or through the few functions of the library that only hand it on.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final

from grader.sandbox.tampering.installed import is_installed
from grader.sandbox.tampering.ledger import Ledger

LOOKS_INSIDE: Final = "your file looks into the running program ({name})"
STARTS_A_THREAD: Final = "your file starts a thread: what runs there is not watched, so threads are out of bounds"
TOUCHES_HOOKS: Final = "your file touches the functions that watch it ({name})"
COPIES_CODE: Final = "your file makes or changes code objects ({name})"
UNDER_ANOTHER_NAME: Final = "your file runs code under the name of a file that is not its own ({name})"
IMPORTS_THE_GRADER: Final = "your file imports the grader ({name})"

_HANDS_ON: Final = {
    "inspect.py": frozenset(
        {"currentframe", "stack", "trace", "getouterframes", "getinnerframes", "getframeinfo", "getcallargs"}
    ),
    "traceback.py": frozenset({"walk_stack", "walk_tb"}),
    "threading.py": frozenset({"setprofile", "settrace", "setprofile_all_threads", "settrace_all_threads"}),
    "types.py": frozenset({"coroutine"}),
}
_INSIDE: Final = frozenset(
    {"sys._getframe", "sys._current_frames", "sys._current_exceptions"}
    | {"gc.get_objects", "gc.get_referrers", "gc.get_referents", "cpython.PyInterpreterState_New"}
)
_HOOKS: Final = frozenset({"sys.setprofile", "sys.settrace", "sys.addaudithook", "sys.monitoring.register_callback"})
_TAKEN_OFF: Final = frozenset({"sys.setprofile", "sys.settrace"})
"""Python itself takes off a profile function that cannot run: where a recursion without end has used up the stack."""
NEAR_THE_LIMIT: Final = 100
_CODE: Final = frozenset({"code.__new__", "marshal.loads", "marshal.load", "marshal.dumps"})
_THREADS: Final = frozenset({"_thread.start_new_thread", "_thread.start_joinable_thread"})
_FRAMES: Final = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame", "f_code"})
_OF_FUNCTIONS: Final = frozenset({"__code__", "__defaults__", "__kwdefaults__"})
_ATTRIBUTES: Final = frozenset({"object.__getattr__", "object.__setattr__", "object.__delattr__"})
_NAMED: Final = frozenset({"function.__new__", "compile", "open"})
_WATCHED: Final = _INSIDE | _HOOKS | _CODE | _THREADS | _ATTRIBUTES | _NAMED

_frame, _type, _str, _format = sys._getframe, type, str, str.format  # noqa: SLF001 - before anybody could patch them
_recursion_limit = sys.getrecursionlimit
_startswith, _rpartition, _CodeType, _FunctionType = str.startswith, str.rpartition, CodeType, types.FunctionType


class ThreadError(RuntimeError):
    """What a thread that may not start raises."""

    def __init__(self) -> None:
        super().__init__("threads are out of bounds here")


def who_imports(ledger: Ledger) -> Callable[[str], None]:
    """Return what writes down that somebody imports a module of the harness."""

    def note(name: str) -> None:
        ledger.note(IMPORTS_THE_GRADER.format(name=name), ledger.line(_frame(1)))

    return note


def install(ledger: Ledger) -> None:
    """Watch this process from now on, and for ever."""
    sys.addaudithook(_hook(ledger))


def _hook(ledger: Ledger) -> Callable[[str, tuple[Any, ...]], None]:
    busy = False

    def hook(event: str, args: tuple[Any, ...]) -> None:
        nonlocal busy
        if (event not in _WATCHED and event[:7] != "ctypes.") or busy or not ledger.filename:
            return
        busy = True  # what is looked at in here raises events of its own
        try:
            outside = _frame(1)
            if event in _THREADS:
                ledger.note(STARTS_A_THREAD, ledger.line(outside))
            else:
                is_theirs = _is_the_learners(outside) and not (event in _TAKEN_OFF and _is_at_the_limit(outside))
                sentence = _sentence(event, args) if is_theirs else ""
                if sentence:
                    ledger.note(sentence, ledger.line(outside))
                return
        finally:
            busy = False
        raise ThreadError

    return hook


def _is_the_learners(frame: FrameType | None) -> bool:
    """Whether the innermost function that does not only hand on what it is told is the learner's."""
    while frame is not None:
        code = frame.f_code
        if not is_installed(code.co_filename):
            return True
        if code.co_name not in _HANDS_ON.get(_rpartition(code.co_filename, "/")[2], ()):
            return False
        frame = frame.f_back
    return False


def _is_at_the_limit(frame: FrameType | None) -> bool:
    deep = 0
    while frame is not None:
        deep, frame = deep + 1, frame.f_back
    return deep > _recursion_limit() - NEAR_THE_LIMIT


def _sentence(event: str, args: tuple[Any, ...]) -> str:
    """Return what there is to say about something that the learner's own code did, nothing where it is harmless."""
    if event in _INSIDE or event[:7] == "ctypes.":
        return _format(LOOKS_INSIDE, name=event)
    if event in _HOOKS:
        return _format(TOUCHES_HOOKS, name=event)
    if event in _CODE:
        return _format(COPIES_CODE, name=event)
    if event in _ATTRIBUTES:
        return _about_an_attribute(event, args)
    named = args[0] if args else None
    if event == "function.__new__":
        return _format(COPIES_CODE, name=event) if _is_of_a_library(named) else ""
    if event == "compile":
        name = args[1] if len(args) > 1 else None
        is_another = _type(name) is str and is_installed(name)  # type: ignore[arg-type]
        return _format(UNDER_ANOTHER_NAME, name=name) if is_another else ""
    is_memory = _type(named) is str and _startswith(named, "/proc/") and named[-4:] == "/mem"  # type: ignore[arg-type,index]
    return _format(LOOKS_INSIDE, name=named) if is_memory else ""


def _about_an_attribute(event: str, args: tuple[Any, ...]) -> str:
    """Look at functions of libraries and at frames: one's own functions are one's own affair."""
    owner, name = args[0], args[1]
    if _type(name) is not str:
        return ""
    if name in _FRAMES:
        return _format(LOOKS_INSIDE, name=name)
    if name in _OF_FUNCTIONS and _type(owner) is _FunctionType and _is_of_a_library(owner.__code__):
        if event != "object.__getattr__":
            return _format(COPIES_CODE, name=name)
        return _format(LOOKS_INSIDE, name=name) if name == "__code__" else ""
    return ""


def _is_of_a_library(code: object) -> bool:
    return _type(code) is _CodeType and is_installed(code.co_filename)  # type: ignore[attr-defined]
