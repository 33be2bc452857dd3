"""One grading: the answer in its sandboxes, the reference beside it, the clock over both."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import time
from dataclasses import dataclass
from typing import Any, Final, Protocol

import torch

from grader.catalog import Kata
from grader.judge.failure import Failure, from_ending, from_reply
from grader.sandbox.executor import Executor
from grader.sandbox.host import GradingTimeout, KeeperLine, Sandbox, SandboxEnded
from grader.sandbox.wire import WireError

SEED_OF_CALLS: Final = 20170612
"""Every call starts from this state of torch's generator, in answer, reference and mistakes; no value is graded through it."""
SECONDS_AFTER_A_TIMEOUT: Final = (2.0, 1.0, 0.5)
"""After the first timeout each further call gets less: an endless loop costs its own deadline once, not once a case."""

Reply = tuple[dict[str, Any], dict[str, torch.Tensor]]


class Backend(Protocol):
    """Something that runs an implementation: a sandbox with the answer, or a known mistake in the judge itself."""

    def request(self, header: dict[str, Any], tensors: dict[str, torch.Tensor]) -> Reply:
        """Do one operation. Raises Failure when the implementation is gone."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What the reference tells about an entry point."""

    name: str
    is_class: bool
    is_module: bool
    names: tuple[str, ...]
    returns: tuple[str, ...]


class Local:
    """Runs our own code, the reference or a known mistake, in this process."""

    def __init__(self, source: str, filename: str) -> None:
        self.executor = Executor(filename)
        self.executor.load(source)

    def request(self, header: dict[str, Any], tensors: dict[str, torch.Tensor]) -> Reply:
        """Do one operation; exceptions of the implementation come through."""
        operation = self.executor.build if header["op"] == "build" else self.executor.call
        return operation(header, tensors)


class Grading:
    """The state of one grading that outlives a case."""

    def __init__(self, kata: Kata, source: str, filename: str, seed: int, keeper: KeeperLine) -> None:
        self.kata, self.source, self.filename, self.seed = kata, source, filename, seed
        self._keeper = keeper
        self._deadline = time.monotonic() + kata.grading_seconds
        self._group = ""
        self._sandbox: Sandbox | None = None
        self._timeouts = 0
        self._printed = ""
        self.load_failure: Failure | None = None
        self.load_printed = ""
        self.layers: list[str] = []
        self.gaps: list[str] = []
        self._initial: dict[str, dict[str, torch.Tensor]] = {}
        self._prepare()
        self.reference_text = kata.reference()
        self.reference = Local(self.reference_text, str(kata.solution / "reference.py"))
        self.signatures = {name: signature(self.reference, self.reference_text, name) for name in kata.entry}

    def initial_parameters(self, signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, torch.Tensor]:
        """Return the parameters of a freshly built reference module, always the same; nothing where it refuses to be built."""
        key = f"{signature.name}{args}{kwargs}"
        if not signature.is_module:
            return {}
        if key not in self._initial:
            torch.default_generator.manual_seed(SEED_OF_CALLS)
            try:
                model = self.reference.executor.namespace[signature.name](*args, **kwargs)
            except Exception:  # noqa: BLE001 - the exchange that follows tells whether it was expected
                return {}
            self._initial[key] = {name: parameter.detach() for name, parameter in model.named_parameters()}
        return self._initial[key]

    # --- sandboxes -----------------------------------------------------------------------------------------------------

    def enter(self, group: str) -> None:
        """Begin a case of this group; another group than the last one gets a fresh sandbox."""
        if group != self._group and self._sandbox is not None:
            self._sandbox.discard()
            self._sandbox = None
        self._group = group

    def end_case(self) -> None:
        """Keep what was printed."""
        if self._sandbox is not None:
            self._printed += self._sandbox.take_printed()

    def take_printed(self) -> str:
        """Return what the answer printed since the last call of this method."""
        printed, self._printed = self._printed, ""
        return printed

    def request(self, header: dict[str, Any], tensors: dict[str, torch.Tensor]) -> Reply:
        """Let the answer do one operation. Raises Failure for a death, a timeout or an unreadable reply."""
        if self.load_failure is not None:
            raise dataclasses.replace(self.load_failure)
        return self._call(self._loaded_sandbox(), header, tensors, self._call_seconds())

    def finish(self) -> None:
        """End the last sandbox; the keeper sweeps the rest."""
        if self._sandbox is not None:
            self._sandbox.discard()

    def _call_seconds(self) -> float:
        if not self._timeouts:
            return self.kata.call_seconds
        shorter = SECONDS_AFTER_A_TIMEOUT[min(self._timeouts, len(SECONDS_AFTER_A_TIMEOUT)) - 1]
        return min(self.kata.call_seconds, shorter)

    def _call(self, sandbox: Sandbox, header: dict[str, Any], tensors: dict[str, torch.Tensor], seconds: float) -> Reply:
        try:
            reply, received = sandbox.call(header, tensors, seconds)
        except SandboxEnded as ended:
            self._printed += sandbox.take_printed()
            self._sandbox = None
            self._timeouts += ended.ending == "timeout"
            raise from_ending(ended, seconds) from None
        except GradingTimeout:
            self._sandbox = None
            sandbox.retire()
            limit = self.kata.grading_seconds
            raise Failure("timeout", f"not finished: the {limit:g} s for the whole grading are over", "timeout") from None
        if reply["kind"] == "memory":  # who knows what is left in there: the next case starts afresh
            sandbox.discard()
            self._sandbox = None
        return reply, received

    def _prepare(self) -> None:
        """Have a sandbox made ready in the background."""
        self._keeper.ask(cpu_seconds=self.kata.grading_seconds)

    def _loaded_sandbox(self) -> Sandbox:
        if self._sandbox is None:
            sandbox = Sandbox(self._keeper, *self._keeper.take(), self._deadline)
            self._prepare()
            sandbox.wait_ready()
            sandbox.filename = self.filename
            self.layers, self.gaps = sandbox.layers, sandbox.gaps
            self._sandbox = sandbox
            self._load(sandbox)
        return self._sandbox

    def _load(self, sandbox: Sandbox) -> None:
        header = {"op": "load", "source": self.source, "filename": self.filename}
        try:
            reply, _ = self._call(sandbox, header, {}, self._call_seconds())
            failure = from_reply(reply)
        except Failure as ended:
            failure = ended
        if self._sandbox is not None:
            self.load_printed = self.load_printed or sandbox.take_printed()
        if failure is not None:
            failure.message = f"the file does not load: {failure.message}"
            failure.kind = f"load-{failure.kind}"
            self.load_failure = failure
            raise failure


def unreadable(error: WireError) -> Failure:
    """Return the failure for a reply whose content breaks the protocol."""
    return Failure("protocol", f"the process of your code sent a message that the grader refuses: {error}", "crashed")


def signature(reference: Local, text: str, name: str) -> Signature:
    """Read off the reference what an entry is called with and what it returns."""
    entry = reference.executor.namespace[name]
    is_class = inspect.isclass(entry)
    is_module = is_class and issubclass(entry, torch.nn.Module)
    called = entry.forward if is_module else entry
    parameters = [p for p in inspect.signature(called).parameters if p != "self"]
    node = next(n for n in ast.parse(text).body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == name)
    if isinstance(node, ast.ClassDef):
        methods = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "forward"]
        returns = _returned_names(methods[0]) if methods else ()
    else:
        returns = _returned_names(node)
    return Signature(name, is_class, is_module, tuple(parameters), returns)


def _returned_names(function: ast.FunctionDef) -> tuple[str, ...]:
    returned = [n.value for n in ast.walk(function) if isinstance(n, ast.Return)]
    if returned and isinstance(returned[-1], ast.Tuple):
        return tuple(ast.unparse(item) if isinstance(item, ast.Name) else "" for item in returned[-1].elts)
    return ()
