"""The learner's answer: its file, loaded into workers that are replaced when they end."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from typing import Final

from grader.catalog import Kata
from grader.judge.failure import Failure, GradingTimeout, SandboxEnded, from_ending, from_reply, text_of
from grader.judge.loading import explained, undefined
from grader.judge.workers.backend import Header, Tensors
from grader.judge.workers.keeper_client import DEVICE_WORKER, PLAIN_WORKER, KeeperClient
from grader.judge.workers.pending import Asked, MustResubmit, Pending, Reply, Told
from grader.judge.workers.sandbox import START_SECONDS, Sandbox
from grader.language import _
from grader.sandbox import lazy
from grader.transport.operations import Message, Several
from grader.transport.request import is_real

SECONDS_AFTER_A_TIMEOUT: Final = (2.0, 1.0, 0.5)
"""After the first timeout each further call gets less: an endless loop costs its own deadline once, not once a case."""
MOST_DEATHS: Final = 12
MOST_RESTARTS: Final = 20
"""So often is an operation asked for again that was lost to the end of a sandbox."""
TOGETHER_SECONDS: Final = 0.5
"""What was asked for together and takes longer is asked for one by one, each with the time of a call."""
SHARED: Final = 3
"""Of the runs with gradients the plain worker has one in so many, so that both workers have as much to do."""


def worker_of(family: str, number: int = 0, device: str = "") -> str:
    """Return the worker for a run of a family, where there are two; ``number`` and ``device`` are the run's."""
    if is_real(device):
        return PLAIN_WORKER
    if family == "device" or (family == "grad" and number % SHARED):
        return DEVICE_WORKER
    return PLAIN_WORKER


class Answer:
    """The learner's file, loaded into a sandbox for each worker; a sandbox that ends is replaced."""

    def __init__(
        self, kata: Kata, source: str, filename: str, keeper: KeeperClient | None, workers: tuple[str, ...]
    ) -> None:
        """Have a sandbox made ready for each of these workers; where there are none, nobody asks for one."""
        self._kata, self._source, self._filename, self._keeper = kata, source, filename, keeper
        self._names = workers
        self._deadline = time.monotonic() + kata.grading_seconds
        self._workers: dict[str, Worker] = {}
        self.timeouts = self.deaths = 0
        self.on_training: Told | None = None
        """Hears how far a training is."""
        self.load_failure: Failure | None = None
        self.load_printed = ""
        self.layers: list[str] = []
        self.gaps: list[str] = []
        self._device_problem: str | None = None
        self._device_asked: Pending | None = None
        self._loaded: set[Sandbox] = set()
        self._has_crashed = self._has_loaded = False
        for worker in workers:
            assert keeper is not None
            keeper.ask(worker, cpu_seconds=kata.grading_seconds)

    def worker(self, family: str, number: int = 0, device: str = "") -> Worker:
        """Return the worker for a run of a family; ``number`` and ``device`` are the run's."""
        name = worker_of(family, number, device)
        return self._named(name if name in self._names else self._names[0])

    def _named(self, name: str) -> Worker:
        if name not in self._workers:
            self._workers[name] = Worker(self, name)
        return self._workers[name]

    def load(self) -> None:
        """Have the file loaded in each worker, before anything is asked for."""
        for name in self._names:
            self._named(name).load()

    def device_problem(self) -> str:
        """Return why the simulated device does not work on this machine; empty where it does.

        A sandbox is asked before it gets the file: what an answer says or does excuses no case.
        """
        for _attempt in range(MOST_RESTARTS):
            if self._device_problem is not None or self.load_failure is not None:
                break
            self.worker("device").load()
            assert self._device_asked is not None
            with contextlib.suppress(
                SandboxEnded, MustResubmit
            ):  # somebody has ended it before there was an answer in it
                try:
                    reply, _tensors = self._device_asked.sandbox.wait(self._device_asked)
                except GradingTimeout:
                    return ""  # so will the cases themselves, and say so
                self._device_problem = text_of(reply["problem"], 300)
        else:
            raise RuntimeError("no sandbox could say whether the simulated device works")
        return self._device_problem or ""

    def close(self) -> None:
        """End the sandboxes; the keeper sweeps the rest."""
        for worker in self._workers.values():
            worker.close()

    @property
    def is_hopeless(self) -> bool:
        """Whether it has ended its process so often that nothing is learnt from one more case."""
        return self.deaths >= MOST_DEATHS

    # --- for workers

    def call_seconds(self) -> float:
        """Return how long a call may take now."""
        if not self.timeouts:
            return self._kata.call_seconds
        shorter = SECONDS_AFTER_A_TIMEOUT[min(self.timeouts, len(SECONDS_AFTER_A_TIMEOUT)) - 1]
        return min(self._kata.call_seconds, shorter)

    def new_sandbox(self, worker: str) -> tuple[Sandbox, Pending]:
        """Take a sandbox and ask it to load the file, and before that what torch will import because of it."""
        assert self._keeper is not None
        sandbox = self._keeper.take(worker, self._deadline, cpu_seconds=self._kata.grading_seconds)
        sandbox.filename = self._filename
        if worker == DEVICE_WORKER and self._device_problem is None:
            self._device_asked = sandbox.submit(Message({"op": "device"}), START_SECONDS)
        if lazy.may_be_needed(self._source):
            sandbox.submit(Message({"op": "import", "source": self._source}), START_SECONDS)
        header = {"op": "load", "source": self._source, "filename": self._filename, "entry": self._kata.entry}
        return sandbox, sandbox.submit(Message(header), self._kata.call_seconds)

    def settle_load(self, sandbox: Sandbox, operation: Pending) -> None:
        """Wait until the file is loaded. Raises Failure, always the same, where it does not load.

        Where it ends the process for the first time, what was asked for is lost, and it is loaded anew.
        """
        if self.load_failure is None and sandbox not in self._loaded:
            self._loaded.add(sandbox)
            try:
                reply, _tensors = sandbox.wait(operation)
                failure = from_reply(reply) or undefined(reply, self._kata.entry, self._filename)
            except MustResubmit:  # somebody has ended it before it came to the file
                return
            except GradingTimeout as ended:  # what used up the time is the answer's affair, not that of a last sandbox
                raise self.failure_of(ended) from None
            except SandboxEnded as ended:
                if not sandbox.confined:
                    raise RuntimeError(f"the sandbox did not start: {ended}") from ended
                if self._is_first_crash(ended):
                    return
                failure = self.failure_of(ended)
            self.layers, self.gaps = sandbox.layers or self.layers, sandbox.gaps or self.gaps
            self.load_printed = self.load_printed or operation.printed
            self._note_load(sandbox, failure)
        if self.load_failure is not None:
            raise dataclasses.replace(self.load_failure)

    def _note_load(self, sandbox: Sandbox, failure: Failure | None) -> None:
        """Note how loading went: a file that has loaded once fails in one case only where it does not load again."""
        if failure is None:
            self._has_loaded = True
            return
        if failure.kind != "tampering":
            failure = explained(failure, self._source, self._filename)
        if self._has_loaded:
            self.deaths += sandbox.alive
            sandbox.discard()
            raise failure
        self.load_failure = failure

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


class Worker:
    """One sandbox after the other with the same file; operations are answered in order."""

    def __init__(self, answer: Answer, name: str) -> None:
        self._answer, self._name = answer, name
        self._sandbox: Sandbox | None = None
        self._load: Pending | None = None
        self.careful = False

    @property
    def is_in_doubt(self) -> bool:
        """Whether the file has ended a process already: from then on operations are better asked for one by one."""
        return self.careful or self._answer.deaths > 0

    def submit(self, header: Header, tensors: Tensors) -> Pending:
        """Ask the present sandbox for an operation, a new one where the last one ended."""
        message = Message(header, tensors)
        if header["op"] == "train":
            return self.send(message, header["seconds"], self._answer.on_training)
        return self.send(message)

    def send(self, message: Message, seconds: float | None = None, told: Told | None = None) -> Pending:
        """Ask for an operation whose message is made already; ``seconds`` where it may take longer than a call."""
        self._be_there()
        assert self._sandbox is not None
        return self._sandbox.submit(message, seconds or self._answer.call_seconds(), told)

    def send_together(self, several: Several) -> list[Pending]:
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
            self._sandbox, self._load = self._answer.new_sandbox(self._name)

    def flush(self) -> None:
        """Send what was asked for, so that the sandbox works while we do."""
        if self._sandbox is not None:
            self._sandbox.flush()

    def answered(self, asked: Pending) -> bool:
        """Wait until it is known what came of an operation. Returns whether there is a reply; never raises."""
        try:
            self._settle_load(asked)
        except Failure:
            return False
        asked.sandbox.settle(asked)
        return asked.reply is not None

    def _settle_load(self, asked: Pending) -> None:
        if self._load is not None and asked.sandbox is self._sandbox:
            self._answer.settle_load(self._sandbox, self._load)

    def wait(self, asked: Asked) -> Reply:
        """Wait for an operation. Raises Failure where it ended the sandbox, MustResubmit where another did."""
        assert isinstance(asked, Pending)
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
