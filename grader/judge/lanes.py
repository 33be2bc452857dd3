"""Where operations go: lanes of sandboxes for the answer, this process for the reference and for known mistakes."""

from __future__ import annotations

import dataclasses
import time
from typing import Any, Final, Protocol

import torch

from grader.catalog import Kata
from grader.judge.failure import Failure, from_ending, from_reply, text_of
from grader.judge.reserve import Reserve
from grader.language import _
from grader.sandbox.executor import AnswerError, Executor
from grader.sandbox.host import Sandbox
from grader.sandbox.keeper_line import DEVICE_LANE, PLAIN_LANE
from grader.sandbox.messages import Message, Several
from grader.sandbox.tickets import GradingTimeout, Lost, Reply, SandboxEnded, Ticket, Told

SECONDS_AFTER_A_TIMEOUT: Final = (2.0, 1.0, 0.5)
"""After the first timeout each further call gets less: an endless loop costs its own deadline once, not once a case."""
MOST_DEATHS: Final = 12
TOGETHER_SECONDS: Final = 0.5
"""What was asked for together and takes longer is asked for one by one, each with the time of a call."""
LANE_OF_FAMILY: Final = {"device": DEVICE_LANE, "grad": DEVICE_LANE}
"""All others go to the plain one."""

REFERENCE: Final = {"dtype": "float64", "device": "cpu", "trace": None, "cost": False, "through": None}
"""How the reference runs, whatever the answer's variant is."""

Asked = Ticket | Reply
Header = dict[str, Any]
Tensors = dict[str, torch.Tensor]


def lane_of_family(family: str) -> str:
    """Return the lane for the cases of a family, where there are two."""
    return LANE_OF_FAMILY.get(family, PLAIN_LANE)


class Backend(Protocol):
    """Something that runs an implementation."""

    def submit(self, header: Header, tensors: Tensors) -> Asked:
        """Ask for one operation; what it returns is for :meth:`wait`."""

    def wait(self, asked: Asked) -> Reply:
        """Wait for an operation. Raises Failure when the implementation is gone, Lost when it has to be asked again."""


class Local:
    """Runs an implementation that can be trusted in this process; its exceptions come through."""

    def __init__(self, source: str, filename: str) -> None:
        self.executor = Executor(filename)
        self.executor.load(source)

    def request(self, header: Header, tensors: Tensors) -> Reply:
        """Do one operation."""
        return (self.executor.build if header["op"] == "build" else self.executor.call)(header, tensors)

    def reply(self, header: Header, tensors: Tensors) -> Reply:
        """Do one operation as a sandbox would: what it raises is a reply."""
        try:
            return self.request(header, tensors)
        except AnswerError as error:
            return {"kind": "missing", "message": str(error)}, {}
        except Exception as error:  # noqa: BLE001 - a mistake may raise whatever an answer may
            bases = [f"{base.__module__}.{base.__qualname__}" for base in type(error).__mro__]
            return {"kind": "error", "type": type(error).__name__, "message": str(error), "bases": bases}, {}


class Reference:
    """The model answer, called directly.

    Building a module takes longer than calling it, so modules of a make are used again.
    """

    def __init__(self, source: str, filename: str) -> None:
        self.executor = Executor(filename)
        self.executor.load(source)
        self._idle: dict[str, list[torch.nn.Module]] = {}
        self._makes: dict[int, str] = {}

    def build(self, header: Header, args: Any, kwargs: Any, state: Any) -> None:
        """Build a module, or take one of the same make that is idle; exceptions of its constructor come through."""
        make = f"{header['entry']}{args}{kwargs}"
        handle = header["handle"]
        idle = self._idle.get(make)
        if idle and header["wants_module"]:
            self.executor.adopt(handle, idle.pop(), state)
        else:
            self.executor.build_from(header | REFERENCE, args, kwargs, state)
        self._makes[handle] = make

    def has(self, handle: int) -> bool:
        """Whether the module of this number was built."""
        return handle in self._makes

    def call(self, header: Header, args: Any, kwargs: Any, through: list[bool] | None) -> tuple[Any, Tensors]:
        """Call it; returns what it returned, and its gradients by name."""
        return self.executor.trusted_call(header | REFERENCE | {"through": through}, args, kwargs)

    def release(self, handles: list[int]) -> None:
        """Take back the modules of a case that is over."""
        for handle in handles:
            make, module = self._makes.pop(handle, ""), self.executor.module(handle)
            if make and module is not None:
                self._idle.setdefault(make, []).append(module)
        self.executor.forget(handles)


class Answer:
    """The learner's file, loaded into a sandbox for each lane; a sandbox that ends is replaced."""

    def __init__(self, kata: Kata, source: str, filename: str, reserve: Reserve, lanes: tuple[str, ...]) -> None:
        """Have a sandbox made ready for each of these lanes."""
        self._kata, self._source, self._filename, self._reserve = kata, source, filename, reserve
        self._names = lanes
        self._deadline = time.monotonic() + kata.grading_seconds
        self._lanes: dict[str, Lane] = {}
        self.timeouts = self.deaths = 0
        self.on_training: Told | None = None
        """Hears how far a training is."""
        self.load_failure: Failure | None = None
        self.load_printed = ""
        self.layers: list[str] = []
        self.gaps: list[str] = []
        self._device_problem: str | None = None
        self._device_asked: Ticket | None = None
        self._loaded: set[Sandbox] = set()
        self._has_crashed = False
        for lane in lanes:
            reserve.ask(lane)

    def lane(self, family: str, name: str = "") -> Lane:
        """Return the lane for the cases of a family, or the one of a name."""
        name = name or lane_of_family(family)
        if name not in self._names:
            (name,) = self._names
        if name not in self._lanes:
            self._lanes[name] = Lane(self, name)
        return self._lanes[name]

    def load(self) -> None:
        """Have the file loaded in each lane, before anything is asked for."""
        for name in self._names:
            self.lane("", name).load()

    def device_problem(self) -> str:
        """Return why the simulated device does not work here; empty where it does."""
        if self._device_problem is None:
            lane = self.lane("device")
            try:
                reply, _tensors = lane.wait(self.ask_for_device())
            except (Failure, Lost):
                return ""  # the cases themselves will tell
            self._device_problem = text_of(reply.get("problem", ""), 300)
        return self._device_problem

    def ask_for_device(self) -> Ticket:
        """Have the simulated device tried, ahead of whatever needs it."""
        if self._device_asked is None:
            self._device_asked = self.lane("device").send(Message({"op": "device"}))
        return self._device_asked

    def close(self) -> None:
        """End the sandboxes; the keeper sweeps the rest."""
        for lane in self._lanes.values():
            lane.close()

    @property
    def is_hopeless(self) -> bool:
        """Whether it has ended its process so often that nothing is learnt from one more case."""
        return self.deaths >= MOST_DEATHS

    # --- for lanes

    def call_seconds(self) -> float:
        """Return how long a call may take now."""
        if not self.timeouts:
            return self._kata.call_seconds
        shorter = SECONDS_AFTER_A_TIMEOUT[min(self.timeouts, len(SECONDS_AFTER_A_TIMEOUT)) - 1]
        return min(self._kata.call_seconds, shorter)

    def new_sandbox(self, lane: str) -> tuple[Sandbox, Ticket]:
        """Take a sandbox and ask it to load the file."""
        sandbox = self._reserve.take(lane, self._deadline)
        sandbox.filename = self._filename
        load = Message({"op": "load", "source": self._source, "filename": self._filename})
        return sandbox, sandbox.submit(load, self.call_seconds())

    def settle_load(self, sandbox: Sandbox, ticket: Ticket) -> None:
        """Wait until the file is loaded. Raises Failure, always the same, where it does not load.

        Where it ends the process for the first time, what was asked for is lost, and it is loaded anew.
        """
        if self.load_failure is None and sandbox not in self._loaded:
            self._loaded.add(sandbox)
            try:
                reply, _tensors = sandbox.wait(ticket)
                failure = from_reply(reply)
            except GradingTimeout as ended:  # what used up the time is the answer's affair, not that of a last sandbox
                raise self.failure_of(ended) from None
            except SandboxEnded as ended:
                if not sandbox.confined:
                    raise RuntimeError(f"the sandbox did not start: {ended}") from ended
                if self._is_first_crash(ended):
                    return
                failure = self.failure_of(ended)
            self.layers, self.gaps = sandbox.layers or self.layers, sandbox.gaps or self.gaps
            self.load_printed = self.load_printed or ticket.printed
            if failure is not None and failure.kind == "tampering":
                self.load_failure = failure
            elif failure is not None:
                sentence = _("the file does not load: {problem}")
                failure.message, failure.kind = sentence.format(problem=failure.message), f"load-{failure.kind}"
                self.load_failure = failure
        if self.load_failure is not None:
            raise dataclasses.replace(self.load_failure)

    def _is_first_crash(self, ended: SandboxEnded) -> bool:
        """Whether the file may have another try: somebody else can have ended a sandbox that waited for it."""
        crashed = ended.ending == "crashed"
        first, self._has_crashed = crashed and not self._has_crashed, self._has_crashed or crashed
        return first

    def failure_of(self, ended: SandboxEnded | GradingTimeout) -> Failure:
        """Turn the end of a sandbox into the failure of the case in which it happened."""
        if isinstance(ended, GradingTimeout):
            limit = self._kata.grading_seconds
            sentence = _("not finished: the {seconds:g} s for the whole grading are over")
            return Failure("timeout", sentence.format(seconds=limit), "timeout")
        self.deaths += 1
        self.timeouts += ended.ending == "timeout"
        return from_ending(ended)


class Lane:
    """One sandbox after the other with the same file; operations are answered in order."""

    def __init__(self, answer: Answer, name: str) -> None:
        self._answer, self._name = answer, name
        self._sandbox: Sandbox | None = None
        self._loads: dict[Sandbox, Ticket] = {}
        self.careful = False

    @property
    def is_in_doubt(self) -> bool:
        """Whether the file has ended a process already: from then on operations are better asked for one by one."""
        return self.careful or self._answer.deaths > 0

    def submit(self, header: Header, tensors: Tensors) -> Ticket:
        """Ask the present sandbox for an operation, a new one where the last one ended."""
        message = Message(header, tensors)
        if header["op"] == "train":
            return self.send(message, header["seconds"], self._answer.on_training)
        return self.send(message)

    def send(self, message: Message, seconds: float | None = None, told: Told | None = None) -> Ticket:
        """Ask for an operation whose message is made already; ``seconds`` where it may take longer than a call."""
        self._be_there()
        assert self._sandbox is not None
        return self._sandbox.submit(message, seconds or self._answer.call_seconds(), told)

    def send_together(self, several: Several) -> list[Ticket]:
        """Ask for several operations at once."""
        self._be_there()
        assert self._sandbox is not None
        return self._sandbox.submit_together(several, min(self._answer.call_seconds(), TOGETHER_SECONDS))

    def load(self) -> None:
        """Have the file loaded now."""
        self._be_there()
        self.flush()

    def _be_there(self) -> None:
        """Have a sandbox that is alive, with the file in it."""
        if self._answer.load_failure is not None:
            raise dataclasses.replace(self._answer.load_failure)
        if self._sandbox is None or not self._sandbox.alive:
            self._sandbox, load = self._answer.new_sandbox(self._name)
            self._loads = {self._sandbox: load}

    def flush(self) -> None:
        """Send what was asked for, so that the sandbox works while we do."""
        if self._sandbox is not None:
            self._sandbox.flush()

    def answered(self, asked: Ticket) -> bool:
        """Wait until it is known what came of an operation. Returns whether there is a reply; never raises."""
        try:
            self._settle_load(asked)
        except Failure:
            return False
        asked.sandbox.settle(asked)
        return asked.reply is not None

    def _settle_load(self, asked: Ticket) -> None:
        load = self._loads.get(asked.sandbox)
        if load is not None:
            self._answer.settle_load(asked.sandbox, load)

    def wait(self, asked: Asked) -> Reply:
        """Wait for an operation. Raises Failure where it ended the sandbox, Lost where another did."""
        assert isinstance(asked, Ticket)
        self._settle_load(asked)
        try:
            reply, tensors = asked.sandbox.wait(asked)
        except (SandboxEnded, GradingTimeout) as ended:
            self.careful = True  # from now on one case at a time: what comes behind a dead one has to be asked again
            raise self._answer.failure_of(ended) from None
        if reply["kind"] == "memory":  # who knows what is left in there: the next case starts afresh
            self.careful = True
            self._answer.deaths += 1
            asked.sandbox.discard()
        return reply, tensors

    def close(self) -> None:
        """End the present sandbox."""
        if self._sandbox is not None:
            self._sandbox.discard()
