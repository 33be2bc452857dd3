"""What switches observers off, or hands them out, tells who used it before it does what it does."""

from __future__ import annotations

import _thread
import ctypes
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final

import torch
import torch.jit.frontend
import torch.overrides
from torch.utils import _python_dispatch

from grader.probes import tracer
from grader.probes.seal import sealed
from grader.sandbox.tampering.audit import LOOKS_INSIDE, STARTS_A_THREAD, TOUCHES_HOOKS, ThreadError
from grader.sandbox.tampering.installed import is_installed
from grader.sandbox.tampering.ledger import Ledger

REWRITES: Final = "your file puts another kernel in the place of one of torch's ({name})"

_OF_C: Final = (
    *("_DisableTorchDispatch", "DisableTorchFunction", "_DisablePythonDispatcher", "_DisableFuncTorch"),
    *("_ExcludeDispatchKeyGuard", "_SetExcludeDispatchKeyGuard", "_ForceDispatchKeyGuard", "_RestorePythonTLSSnapshot"),
    *("_dispatch_tls_set_dispatch_key_excluded", "_dispatch_tls_set_dispatch_key_included"),
    *("_pop_torch_dispatch_stack", "_pop_torch_function_stack", "_unset_dispatch_mode"),
    *("_get_dispatch_stack_at", "_get_function_stack_at", "_get_dispatch_mode", "_set_dispatch_mode"),
)
_OF_PYTHON: Final = (
    (_python_dispatch, "_disable_current_modes"),
    (_python_dispatch, "_get_current_dispatch_mode"),
    (_python_dispatch, "_get_current_dispatch_mode_stack"),
    (_python_dispatch, "_pop_mode"),
    (_python_dispatch, "_pop_mode_temporarily"),
    (torch.overrides, "_get_current_function_mode"),
    (torch.overrides, "_get_current_function_mode_stack"),
    (torch.overrides, "_pop_mode"),
    (torch.overrides, "_pop_mode_temporarily"),
    (sys, "setprofile"),
    (sys, "settrace"),
    (sys, "getprofile"),
    (sys, "gettrace"),
    (threading, "getprofile"),
    (threading, "gettrace"),
)
_OF_MEMORY: Final = ((ctypes, "cast"), (ctypes, "memmove"), (ctypes, "memset"))
_THREADS: Final = (
    *((_thread, name) for name in ("start_new_thread", "start_new", "start_joinable_thread")),
    *((threading, name) for name in ("_start_new_thread", "_start_joinable_thread")),
)
_RECORDS_GRAPHS: Final = (
    (torch._C, "_create_function_from_trace"),  # noqa: SLF001
    (torch._C.ScriptModule, "_create_method_from_trace"),  # noqa: SLF001
)
_REPLACED: Final = ("aten", "_")
_LIBRARY: Final = torch.library.__file__

_frame = sys._getframe  # noqa: SLF001 - before anybody could patch it
_get_profile, _set_profile = sys.getprofile, sys.setprofile


def build(ledger: Ledger) -> None:
    """Put the gates up; they stay."""
    for owner, name in (*((torch._C, name) for name in _OF_C), *_OF_PYTHON):  # noqa: SLF001
        if hasattr(owner, name):
            setattr(owner, name, _gate(ledger, TOUCHES_HOOKS, f"{owner.__name__}.{name}", getattr(owner, name)))
    for owner, name in _OF_MEMORY:
        setattr(owner, name, _gate(ledger, LOOKS_INSIDE, f"{owner.__name__}.{name}", getattr(owner, name)))
    for scripting in (torch.jit.frontend, torch.jit._script, torch.jit._recursive):  # noqa: SLF001 - each has the name
        scripting.get_jit_def = _script_gate(ledger, scripting.get_jit_def)  # type: ignore[attr-defined]
    for recorder, name in _RECORDS_GRAPHS:
        setattr(recorder, name, _tracing_gate(ledger, getattr(recorder, name)))
    ctypes.pythonapi = ctypes.PyDLL(None)  # looking a function up is seen; those that we use were looked up before
    for owner, name in _THREADS:
        if hasattr(owner, name):
            setattr(owner, name, _thread_gate(ledger, getattr(owner, name)))
    torch._C._dispatch_library = _library_gate(ledger, torch._C._dispatch_library)  # noqa: SLF001


def _gate(ledger: Ledger, template: str, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    sentence = template.format(name=name)

    def gate(*args: Any, **kwargs: Any) -> Any:
        caller = _frame(1)
        if not is_installed(caller.f_code.co_filename):
            ledger.note(sentence, ledger.line(caller))
        return original(*args, **kwargs)

    return sealed(gate)


def _thread_gate(ledger: Ledger, original: Callable[..., Any]) -> Callable[..., Any]:
    """Let no thread start once there is a file: what observes calls does so on one thread."""

    def gate(*args: Any, **kwargs: Any) -> Any:
        if not ledger.filename:
            return original(*args, **kwargs)
        ledger.note(STARTS_A_THREAD, ledger.line(_frame(1)))
        raise ThreadError

    return sealed(gate)


def _script_gate(ledger: Ledger, original: Callable[..., Any]) -> Callable[..., Any]:
    """Remember which functions become TorchScript: the tracer does not see them run."""

    def gate(function: Any, *args: Any, **kwargs: Any) -> Any:
        code = getattr(function, "__code__", None)
        if ledger.filename and isinstance(code, CodeType):
            tracer.note_compiled(code, ledger.line(_frame(1)))
        return original(function, *args, **kwargs)

    return sealed(gate)


def _tracing_gate(ledger: Ledger, original: Callable[..., Any]) -> Callable[..., Any]:
    """Remember which functions run while a graph is recorded, of which only the operators are left."""

    def gate(*args: Any, **kwargs: Any) -> Any:
        line, before = ledger.line(_frame(1)), _get_profile()

        def on_frame(frame: FrameType, event: str, argument: Any) -> None:
            del argument
            if event == "call" and is_installed(frame.f_code.co_filename):
                tracer.note_compiled(frame.f_code, line)

        _set_profile(sealed(on_frame))
        try:
            return original(*args, **kwargs)
        finally:
            _set_profile(before)

    return sealed(gate)


def _library_gate(ledger: Ledger, original: Callable[..., Any]) -> Callable[..., Any]:
    def gate(kind: str, namespace: str, *rest: Any) -> Any:
        caller = _frame(1)
        while caller.f_back is not None and caller.f_code.co_filename == _LIBRARY:
            caller = caller.f_back
        if namespace in _REPLACED and not is_installed(caller.f_code.co_filename):
            ledger.note_lasting(REWRITES.format(name=namespace), ledger.line(caller))
        return original(kind, namespace, *rest)

    return sealed(gate)
