"""The child's end: a process that confines itself, loads the learner's file and does what the judge asks.

Trusted until the file is loaded, untrusted ever after. It never sees a reference or an expected result; all that it
can say is "these are my tensors".
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import torch

from grader.probes import simdevice
from grader.sandbox import confine, lazy, limits, warned
from grader.sandbox.executor import AnswerError, Executor, Given
from grader.sandbox.limits import WHERE_ARE_YOU
from grader.sandbox.named import AGAIN
from grader.sandbox.preloaded import INHERITED, Item, items_of, numbered
from grader.sandbox.tampering import audit, gates, hiding
from grader.sandbox.tampering.ledger import Ledger
from grader.sandbox.tampering.namespaces import REPLACES
from grader.sandbox.values import TooLarge
from grader.transport.operations import PRELOAD, SEVERAL
from grader.transport.output import marker
from grader.transport.wire import PREFIX, Packer, frame, load, parse_frame, save

PACKAGE_ROOT: Final = str(Path(__file__).resolve().parent.parent.parent)
LONGEST_MESSAGE: Final = 2000
MOST_FRAMES: Final = 12
PART_SECONDS: Final = 0.05
PART_BYTES: Final = 8 << 20
PART_TENSORS: Final = 128
"""What was asked for together is answered together while it takes no longer and nothing more comes back."""
MOST_UNSEEN: Final = 30
_NO_DEBUGGER: Final = (
    "there is no debugger in a grading to stop in: `kata repro` writes a failing case as a script for one"
)
OUT_OF_MEMORY: Final = ("can't allocate memory", "std::bad_alloc", "Unable to allocate", "not enough memory")

# What an answer could patch, taken before it is loaded: against accidents, since the judge trusts none of it.
_frame, _load, _save, _parse, _dumps = frame, load, save, parse_frame, json.dumps
_type, _isinstance, _str, _len, _walk_traceback = type, isinstance, str, len, traceback.walk_tb
_write, _marker, _suppress, _now = os.write, marker, contextlib.suppress, time.monotonic
_items_of, _import = items_of, lazy.load
_list, _enumerate = list, enumerate
_exit, _send, _receive = os._exit, socket.socket.sendall, socket.socket.recv
_PEEK, _Nothing = socket.MSG_PEEK | socket.MSG_DONTWAIT, BlockingIOError


def _no_debugger(*_args: object, **_kwargs: object) -> None:
    """Stand in the place of what breakpoint() would start."""
    raise RuntimeError(_NO_DEBUGGER)


class Guest:
    """Serves one judge over one socket until it is closed."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._executor = Executor("answer.py")
        self._preloaded = dict(INHERITED)
        self._ledger = Ledger()
        self._has_device = False
        self._unseen = 0

    def hide(self) -> None:
        """Put the harness out of reach, and watch who reaches for it."""
        audit.install(self._ledger)
        gates.build(self._ledger)
        self._ledger.watch(hiding.hide(audit.who_imports(self._ledger)))

    def serve(self) -> None:
        """Answer messages for ever; the process ends when the judge closes the socket or kills it."""
        while True:
            header, payload = self._read()
            if header["op"] == SEVERAL:
                asked = header.get("preloaded")
                items = (
                    _items_of(header, payload) if asked is None else [self._preloaded.pop(number) for number in asked]
                )
                self._do_several(header["nonce"], items)
                continue
            reply, tensors = self._handle(header, payload)
            if not self._may_look_later():
                self._compare_namespaces()
            self._add_findings(reply)
            reply["nonce"] = header["nonce"]
            data = self._packed(reply, tensors)
            self._mark_output(header["nonce"])
            _send(self._channel, data)

    def send(self, header: dict[str, Any]) -> None:
        """Say something unasked: that the sandbox is ready."""
        _send(self._channel, _frame(header))

    def _read(self) -> tuple[dict[str, Any], bytes]:
        buffer = self._read_exactly(PREFIX.size)
        _, header, payload = PREFIX.unpack(buffer)
        return _parse(buffer + self._read_exactly(header + payload))

    def _read_exactly(self, size: int) -> bytes:
        parts = bytearray()
        while _len(parts) < size:
            part = _receive(self._channel, min(size - _len(parts), 1 << 20))
            if not part:
                _exit(0)
            parts += part
        return bytes(parts)

    def _handle(self, header: dict[str, Any], payload: bytes) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        try:
            operation = header["op"]
            self._get_ready(header)
            if operation == "load":
                self._executor = Executor(header["filename"])
                warned.at_the_line_of(header["filename"])
                self._ledger.source, self._ledger.filename = header["source"], header["filename"]
                self._executor.load(header["source"])
                return {"kind": "loaded"} | self._executor.defined(header["entry"]), {}
            if operation == "import":
                _import(header["source"])
                self._ledger.renew()  # nothing of an answer has run yet
                return {"kind": "imported"}, {}
            if operation == PRELOAD:
                self._preloaded.update(numbered(header, payload))
                return {"kind": PRELOAD}, {}
            if operation == "device":
                return {"kind": "device", "problem": simdevice.available()}, {}
            if operation == "train":
                return self._executor.train(header, _load(payload), self._teller(header["nonce"]))
            if operation in AGAIN:
                return AGAIN[operation](self._executor, header, _load(payload))
            return self._executor.do(header, _load(payload))
        except BaseException as error:  # noqa: BLE001 - SystemExit, KeyboardInterrupt, pytest.skip...: all are failures
            return self._describe(error), {}

    def _do_several(self, nonce: str, items: list[Item]) -> None:
        """Do one operation after the other; answer together, or in parts where it takes time or much came back."""
        replies, packer, since = _list(), Packer(), _now()
        for number, (item, tensors, given) in _enumerate(items):
            replies.append(self._handle_one_of_several(item, tensors, given, packer))
            self._add_findings(replies[-1])
            self._mark_output(f"{nonce}.{number}")
            if _now() - since > PART_SECONDS or packer.bytes > PART_BYTES or packer.count > PART_TENSORS:
                self._look_once_more(replies)
                _send(self._channel, self._packed_together(nonce, replies, packer))
                replies, packer, since = _list(), Packer(), _now()
        if replies:
            self._look_once_more(replies)
            _send(self._channel, self._packed_together(nonce, replies, packer))

    def _may_look_later(self) -> bool:
        """Whether the next operation is there already: what was replaced stands beside that one as well.

        As many are answered without a look as may be asked for together.
        """
        self._unseen += 1
        if self._unseen < MOST_UNSEEN and _is_waiting(self._channel):
            return True
        self._unseen = 0
        return False

    def _look_once_more(self, replies: list[dict[str, Any]]) -> None:
        """What was replaced meanwhile stands beside the last operation of those that are answered together."""
        self._compare_namespaces()
        self._add_findings(replies[-1])

    def _add_findings(self, reply: dict[str, Any]) -> None:
        found = self._ledger.take()
        if found:
            reply["tampering"] = reply.get("tampering", []) + found

    def _compare_namespaces(self) -> None:
        try:
            self._ledger.compare()
        except BaseException:  # noqa: BLE001 - what it is made of was replaced
            self._ledger.note_lasting(REPLACES.format(name="builtins"), 0)

    def _handle_one_of_several(
        self, header: dict[str, Any], tensors: dict[str, torch.Tensor], given: Given | None, packer: Packer
    ) -> dict[str, Any]:
        try:
            self._get_ready(header)
            if header["op"] == "build":
                return self._executor.build(header, tensors, given)[0]
            return self._executor.call(header, tensors, given, packer)[0]
        except BaseException as error:  # noqa: BLE001 - as in _handle
            return self._describe(error)

    def _packed_together(self, nonce: str, replies: list[dict[str, Any]], packer: Packer) -> bytes:
        try:
            return _frame({"kind": SEVERAL, "nonce": nonce, "replies": replies}, _save(packer.tensors))
        except BaseException:  # noqa: BLE001 - one of them cannot be sent: which one?
            said = [self._sayable(reply) for reply in replies]
            return _frame({"kind": SEVERAL, "nonce": nonce, "replies": said}, _save(packer.tensors))

    def _sayable(self, reply: dict[str, Any]) -> dict[str, Any]:
        try:
            _dumps(reply)
        except BaseException as error:  # noqa: BLE001
            return self._describe(error)
        return reply

    def _get_ready(self, header: dict[str, Any]) -> None:
        """Register the device before the first operation that needs it: that changes torch for good."""
        if not self._has_device and (header["op"] == "device" or header.get("device") == simdevice.NAME):
            self._has_device = True
            if simdevice.is_registered():  # in the process that this one was forked from
                return
            self._compare_namespaces()
            simdevice.register()
            self._ledger.renew()

    def _teller(self, nonce: str) -> Callable[[int, int, float], None]:
        """Return what tells the judge how far a training is."""

        def tell(step: int, steps: int, loss: float) -> None:
            header = {"kind": "progress", "nonce": nonce, "step": step, "steps": steps, "loss": loss}
            _send(self._channel, _frame(header))

        return tell

    def _mark_output(self, nonce: str) -> None:
        """Flush, and tell where the output of this call ends."""
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:  # noqa: BLE001, S112 - closed or replaced by the answer: its own affair
                continue
        with _suppress(OSError):
            _write(1, _marker(nonce))

    def _packed(self, reply: dict[str, Any], tensors: dict[str, torch.Tensor]) -> bytes:
        try:
            return _frame(reply, _save(tensors))
        except BaseException as error:  # noqa: BLE001
            return _frame(self._describe(error) | {"nonce": reply["nonce"]})

    def _describe(self, error: BaseException) -> dict[str, Any]:
        """Data about an exception; its own methods are the learner's code, and the deadline still holds."""
        try:
            message = _str(error)[:LONGEST_MESSAGE]
        except BaseException:  # noqa: BLE001
            message = "(the text of the exception cannot be read)"
        kind = _type(error)
        out_of_memory = _isinstance(error, MemoryError) or any(text in message for text in OUT_OF_MEMORY)
        frames: list[list[Any]] = []
        if isinstance(error, SyntaxError) and error.filename == self._executor.filename:
            frames.append([error.lineno or 0, "", ""])
        else:
            for at, number in _walk_traceback(error.__traceback__):
                if at.f_code.co_filename == self._executor.filename:
                    frames.append([number, at.f_code.co_name[:80], ""])
        return {
            "kind": "memory"
            if out_of_memory
            else "missing"
            if kind is AnswerError
            else "large"
            if kind is TooLarge
            else "error",
            "type": kind.__name__[:100],
            "bases": [f"{base.__module__}.{base.__qualname__}"[:100] for base in kind.__mro__][:20],
            "message": message,
            "frames": frames[-MOST_FRAMES:],
        }


def _is_waiting(channel: socket.socket) -> bool:
    """Whether something is there to be read."""
    try:
        return _len(_receive(channel, 1, _PEEK)) > 0
    except _Nothing:
        return False


def without_ours(path: list[str]) -> list[str]:
    """Return where modules may be looked for: not in the clone, but where kata is installed beside torch, there too.

    torch imports much of itself, and sympy, when it is first needed.
    """
    hidden = {""} if torch.__file__.startswith(f"{PACKAGE_ROOT}{os.sep}torch{os.sep}") else {"", PACKAGE_ROOT}
    return [entry for entry in path if entry not in hidden]


def main(settings: dict[str, Any], fds: dict[str, int]) -> None:
    """Become the sandbox.

    ``settings``: parent, scratch, read, memory, cpu_seconds, layers, device.
    """
    limits.die_with_parent()
    if os.getppid() != settings["parent"]:
        _exit(99)
    channel, diagnostics = socket.socket(fileno=fds["channel"]), fds["diagnostics"]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[:] = without_ours(sys.path)
    gc.enable()  # off in the server, where nothing becomes garbage
    torch.set_num_threads(1)
    lazy.compile_nothing()
    torch.set_deterministic_debug_mode("warn")  # torch.empty is NaN then: what was never written shows
    torch.backends.cudnn.allow_tf32 = False  # recurrent layers on a GPU would keep 10 bits
    scratch = Path(settings["scratch"])
    read = map(Path, settings["read"])
    active = confine.confine(scratch, read, settings["memory"], settings["cpu_seconds"], settings["layers"])
    faulthandler.enable(file=diagnostics, all_threads=True)
    faulthandler.register(WHERE_ARE_YOU, file=diagnostics, all_threads=True)
    found = confine.gaps(scratch, settings["parent"])
    guest = Guest(channel)
    guest.send({"kind": "ready", "nonce": "", "layers": active, "gaps": found})
    if settings["device"]:  # before anything is differentiated: autograd takes in no device afterwards
        simdevice.available()
    sys.breakpointhook = _no_debugger
    guest.hide()
    guest.serve()
