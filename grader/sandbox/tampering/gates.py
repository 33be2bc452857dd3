"""What switches observers off, or hands them out, tells who used it before it does what it does."""

from __future__ import annotations

import _thread
import ctypes
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

import torch
import torch.overrides
from torch.utils import _python_dispatch

from grader.probes.seal import sealed
from grader.sandbox.tampering.audit import LOOKS_INSIDE, STARTS_A_THREAD, TOUCHES_HOOKS, ThreadError
from grader.sandbox.tampering.ledger import Ledger, is_installed

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
_REPLACED: Final = ("aten", "_")
_LIBRARY: Final = torch.library.__file__

_frame = sys._getframe  # noqa: SLF001 - before anybody could patch it


def build(ledger: Ledger) -> None:
    """Put the gates up; they stay."""
    for owner, name in (*((torch._C, name) for name in _OF_C), *_OF_PYTHON):  # noqa: SLF001
        if hasattr(owner, name):
            setattr(owner, name, _gate(ledger, TOUCHES_HOOKS, f"{owner.__name__}.{name}", getattr(owner, name)))
    for owner, name in _OF_MEMORY:
        setattr(owner, name, _gate(ledger, LOOKS_INSIDE, f"{owner.__name__}.{name}", getattr(owner, name)))
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


def _library_gate(ledger: Ledger, original: Callable[..., Any]) -> Callable[..., Any]:
    def gate(kind: str, namespace: str, *rest: Any) -> Any:
        caller = _frame(1)
        while caller.f_back is not None and caller.f_code.co_filename == _LIBRARY:
            caller = caller.f_back
        if namespace in _REPLACED and not is_installed(caller.f_code.co_filename):
            ledger.note_lasting(REWRITES.format(name=namespace), ledger.line(caller))
        return original(kind, namespace, *rest)

    return sealed(gate)
