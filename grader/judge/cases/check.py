"""The ``check`` of a case: runs answer and reference on the same inputs and compares what comes back.

How cases use it stands in ``docs/writing-a-kata.md``. What is asked ahead is judged in its order, when somebody looks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from functools import cached_property
from typing import Any
from zlib import crc32

import torch

from grader.judge.cases.modules import Entry, Module
from grader.judge.cases.rng import Numbers
from grader.judge.cases.variant import KnownResults, Variant, Wanted
from grader.judge.contract import Grading, Reference
from grader.judge.exchange import compare as comparison
from grader.judge.exchange.arguments import cast, got, size
from grader.judge.exchange.observed import contract_failure, forbidden_call, remarks_of
from grader.judge.exchange.results import Agreement, Exchange, Result
from grader.judge.failure import Failure, Satisfied, from_reply, raised_types, unreadable
from grader.judge.tolerance import Moves
from grader.judge.verdict.replies import (
    agreed,
    judge_numbers,
    misplaced,
    module_failure,
    named,
    nothing_raised,
    receive,
)
from grader.judge.verdict.twin import Twin
from grader.judge.workers.backend import Backend
from grader.judge.workers.pending import MustResubmit
from grader.language import _
from grader.probes.meter import Cost
from grader.sandbox.executor import RUN_BITS
from grader.transport.callables import Step
from grader.transport.wire import DeviceName, Packer, Tree, strings


class Check:
    """What a case calls. One for each case and variant."""

    def __init__(
        self,
        grading: Grading,
        variant: Variant,
        numbers: Numbers,
        backend: Backend,
        number: int = 0,
        known: KnownResults | None = None,
        judges: bool = True,
    ) -> None:
        """Start a run of a case; one that ``judges`` not holds nothing against anything.

        ``number`` is the run's; of the ``known``, a run of the same case in the same dtype, the results are used again.
        """
        self.grading, self.variant, self.numbers = grading, variant, numbers
        self.backend, self.judges = backend, judges
        self.exchanges: list[Exchange] = []
        self.remarks: list[tuple[str, int]] = []
        self.looked = self.expected_an_error = self.asked_for_variant = False
        self.handles: list[int] = []
        self._number, self._known_results = number << RUN_BITS, known
        self.unbuilt: list[Module] = []
        self.agreements: list[Agreement] = []
        self._expected: tuple[type[BaseException], ...] = ()
        self._judged = self._agreed = self._rolls = 0

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the variant; a run that asks for it is always made (see :mod:`grader.judge.runs.coverage`)."""
        self.asked_for_variant = True
        return self.variant.dtype

    @property
    def family(self) -> str:
        """The family of the variant."""
        self.asked_for_variant = True
        return self.variant.family

    @property
    def expects_an_error(self) -> bool:
        """Whether this is inside ``raises``."""
        return bool(self._expected)

    @property
    def device(self) -> DeviceName:
        """The device of the variant, for handing on as an argument: the answer gets its own, the reference the CPU."""
        here = self.variant.device
        return DeviceName(here if here == "cpu" else f"{here}:0")

    # --- what a case calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the only function of the kata, compared."""
        return self._only(is_class=False)(*args, **kwargs)

    def step(self, table: torch.Tensor) -> Step:
        """Return a language model as an argument: see :class:`grader.transport.callables.Step`."""
        return Step(table)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Call the only function of the kata without comparing values."""
        return self._only(is_class=False).run(*args, **kwargs)

    def module(self, *args: Any, **kwargs: Any) -> Module:
        """Build the only class of the kata."""
        module = self._only(is_class=True)(*args, **kwargs)
        assert isinstance(module, Module)
        return module

    def __getitem__(self, name: str) -> Entry:
        return Entry(self, self.grading.signatures[name])

    def roll(self) -> None:
        """From here on calls draw other random numbers than the calls before, as far as they draw any."""
        self._rolls += 1

    @contextmanager
    def raises(self, *errors: type[BaseException]) -> Iterator[None]:
        """Expect the call inside to raise one of these."""
        self._look()
        self._expected, self.expected_an_error = errors, True
        try:
            yield
        except Satisfied:
            return
        finally:
            self._expected = ()
        raise self._failure("no-error", nothing_raised(errors))

    def same(self, first: Any, second: Any, sentence: str) -> None:
        """Two results of the answer are equal bit for bit."""
        self._agree(first, second, sentence, exact=True)

    def close(self, first: Any, second: Any, sentence: str) -> None:
        """Two results of the answer are equal within the tolerance of their dtype."""
        self._agree(first, second, sentence, exact=False)

    def that(self, condition: Any, sentence: str) -> None:
        """Check any other fact about the answer's results."""
        self._look()
        if not bool(condition):
            self._fact(sentence)

    def at_most(self, counted: float, limit: float, sentence: str, line: int = 0) -> None:
        """A counted cost stays within its limit; the sentence says what costs too much."""
        if counted > limit:
            said = _("{sentence}: counted {counted:g}, allowed {limit:g}")
            sentence = self.grading.texts.sentence(sentence)
            failure = self._failure("cost", said.format(sentence=sentence, counted=counted, limit=limit), line)
            failure.counted = counted
            raise failure

    def no_loop(self, small: Cost, large: Cost, added: int, sentence: str) -> None:
        """The number of operator calls does not grow with the ``added`` tokens between two calls.

        Names the line that does.
        """
        growing = {line: calls - small.lines[line] for line, calls in large.lines.items()}
        line = max(growing, key=growing.__getitem__) if growing else 0
        grown = large.calls - small.calls
        if grown >= added:
            said = _("{sentence}: {added} more of them cost {grown} more operator calls")
            sentence = self.grading.texts.sentence(sentence)
            raise self._failure("cost", said.format(sentence=sentence, added=added, grown=grown), line)

    def _only(self, *, is_class: bool) -> Entry:
        fitting = [s for s in self.grading.signatures.values() if s.is_class == is_class]
        if len(fitting) != 1:
            raise TypeError("this kata has several entries of this kind: use check[name](...)")
        return Entry(self, fitting[0])

    def _agree(self, first: Any, second: Any, sentence: str, *, exact: bool) -> None:
        """Keep in mind that two results agree, or look at once where they are no longer just results."""
        if type(first) is Result and type(second) is Result:
            one, two = ((self.exchanges.index(result.exchange), result.path) for result in (first, second))
            self.agreements.append(Agreement(one, two, exact, sentence, len(self.exchanges)))
        elif not (comparison.same_bits if exact else comparison.agree)(got(first), got(second)):
            self._fact(sentence)

    def _fact(self, sentence: str) -> None:
        if self.variant.compares_values:
            raise self._failure("fact", self.grading.texts.sentence(sentence))

    def _failure(self, kind: str, sentence: str, line: int = 0) -> Failure:
        last = self.exchanges[-1] if self.exchanges else None
        return Failure(kind, sentence, line=line, call=last.call if last else "", size=last.size if last else 0)

    # --- asking

    def ask(
        self, header: dict[str, Any], trees: dict[str, Tree], call: str, names: tuple[str, ...], *, compared: bool
    ) -> Result:
        """Ask the answer for one operation; what the reference does is compared later. Inside ``raises`` at once."""
        header = header | {"seed": header["seed"] + self._rolls, "device": self.variant.device}
        if "asks" in (levels := dict(self.variant.levels)):
            header["asks"] = [levels["asks"], crc32(call.encode()) + self.grading.seed]
        answers = {key: cast(tree, self.variant.dtype) for key, tree in trees.items()}
        packer = Packer()
        trees_packed = {key: packer.pack(tree) for key, tree in answers.items()}
        packed = header | trees_packed | {"through": None, "key": self._next_number()}
        packed |= self.variant.header(self.grading.kata.bounds, self.grading.seed + (self._number >> RUN_BITS))
        exchange = Exchange(header, trees, call, names, compared, packed["key"], size(answers.get("args")))
        self.exchanges.append(exchange)
        exchange.sent = (packed, packer.tensors)
        exchange.asked = self.backend.submit(*exchange.sent)
        if self._expected:
            receive(exchange, self.backend)
            self._judged = len(self.exchanges)
            self._expect(exchange)
        return Result(exchange, self._settle_up_to)

    def new_handle(self) -> int:
        """Number a module."""
        self.handles.append(self._next_number())
        return self.handles[-1]

    @property
    def variant_dtype(self) -> torch.dtype:
        """The same, for another run, and for what all cases of a kata do alike."""
        return self.variant.dtype

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    # --- judging

    def settle(self) -> None:
        """Judge everything that was asked for. Raises the first failure."""
        self.build_the_rest()
        while self._agreed < len(self.agreements) or self._judged < len(self.exchanges):
            if self._agreed < len(self.agreements) and self.agreements[self._agreed].after <= self._judged:
                self._agreed += 1
                self._judge_agreement(self.agreements[self._agreed - 1])
                continue
            exchange = self.exchanges[self._judged]
            self._judged += 1
            try:
                receive(exchange, self.backend)
                self._judge(exchange)
            except Failure as failure:
                raise failure.seen_at(self._judged - 1, exchange.call, exchange.size)  # noqa: B904 - the same

    def build_the_rest(self) -> None:
        """Build the modules that were not called."""
        for module in list(self.unbuilt):
            module.build()

    def receive_the_rest(self) -> None:
        """Take in the replies that a failure left unread, for those who look at them in another way."""
        for exchange in self.exchanges:
            if not exchange.settled and exchange.asked is not None:
                try:
                    receive(exchange, self.backend)
                except (Failure, MustResubmit):
                    return

    def _settle_up_to(self, exchange: Exchange) -> None:
        if not exchange.settled:
            self._look()

    def _look(self) -> None:
        """Judge what was asked for up to now, because the case wants to know something."""
        self.looked = True
        self.settle()

    def _judge_agreement(self, agreement: Agreement) -> None:
        if self.variant.compares_values and not agreed(agreement, self.exchanges):
            last = self.exchanges[agreement.after - 1]
            sentence = self.grading.texts.sentence(agreement.sentence)
            raise Failure("fact", sentence, call=last.call, size=last.size, at=agreement.after - 1)

    def _judge(self, exchange: Exchange) -> None:
        failure = from_reply(exchange.reply)
        if failure is not None:
            raise failure
        if exchange.reply["kind"] != ("built" if exchange.header["op"] == "build" else "value"):
            raise unreadable("a reply to something else")
        if exchange.header["op"] == "build":
            failure = module_failure(exchange)
            if failure is not None:
                raise failure
        elif self.judges:
            self._judge_value(exchange)
        elif exchange.compared and exchange.want is None:
            exchange.want = exchange.value  # a rehearsal: it is the reference that answers

    def _judge_value(self, exchange: Exchange) -> None:
        reply, variant = exchange.reply, self.variant
        self.remarks += [remark for remark in remarks_of(reply) if remark not in self.remarks]
        failure = None
        if variant.family == "contract":
            failure = contract_failure(exchange)
        elif not variant.trace:  # a level of which no other outcome tells what was called
            failure = forbidden_call(exchange)
        failure = failure or misplaced(exchange, exchange.header["device"])
        if failure is not None:
            raise failure
        if exchange.compared:
            self._compare(exchange)
        elif exchange.header.get("stateful"):  # the reference has to go through it, too
            self.reference(exchange)
        modified = strings(reply.get("modified", []))
        if modified:
            sentence = _("your code changed its input {names} in place")
            raise Failure("modified", sentence.format(names=", ".join(modified)))

    def _compare(self, exchange: Exchange) -> None:
        grad = self.variant.grad
        through = exchange.carries if grad else None
        known = self._known(exchange, through)
        exchange.want, exchange.want_grads, exchange.moves = known or (*self.reference(exchange, through), None)
        judge_numbers(exchange, self.variant.dtype, lambda: self.measure(exchange, through), grad=grad)

    def _known(self, exchange: Exchange, through: list[bool] | None) -> Wanted | None:
        """What the reference returned for the same call in another run of this case."""
        if (
            self._known_results is None
            or self._known_results.variant_dtype != self.variant.dtype
            or exchange.header.get("stateful")
        ):
            return None
        return self._known_results.wanted(self.exchanges.index(exchange), through)

    def wanted(self, index: int, carries: list[bool] | None) -> Wanted | None:
        """Return what the reference returned for a call of this run; None where it is not known."""
        if index >= len(self.exchanges) or self.exchanges[index].want is None or carries is not None:
            return None
        return self.exchanges[index].want, {}, self.exchanges[index].moves

    def reference(self, exchange: Exchange, through: list[bool] | None = None) -> tuple[Tree, dict[str, Any]]:
        """Have the reference do the same operation: see :meth:`Twin.do`."""
        return self._twin.do(exchange, through)

    @contextmanager
    def beside(self, text: str) -> Iterator[None]:
        """Let another text be the reference meanwhile."""
        grading, twin = self.grading, self._twin
        self.grading = copy(grading)
        self.grading.reference = Reference(grading.kata, text)
        self._twin = self.twin()
        try:
            yield
        finally:
            self.grading, self._twin = grading, twin

    def measure(self, exchange: Exchange, through: list[bool] | None = None) -> Moves:
        """Return how far correct computations of a call lie apart."""
        return self._twin.moves(exchange, through)

    @cached_property
    def _twin(self) -> Twin:
        return self.twin()

    def twin(self) -> Twin:
        """Return a reference that goes beside the answer from the first operation on."""
        return Twin(self.grading.reference, self.variant.dtype, self.exchanges, self.handles)

    def _expect(self, exchange: Exchange) -> None:
        """Inside ``raises``: the answer must raise, and so does the reference, or the case is wrong."""
        answered = exchange.reply["kind"] in ("built", "value")
        if self.judges and not self._reference_raises(exchange):
            failure = from_reply(exchange.reply)
            if failure is not None:
                raise failure
            return  # the call that must raise is still to come, or `raises` reports that there was none
        if answered and not self.judges:
            return
        if answered:
            raise self._failure("no-error", nothing_raised(self._expected))
        expected = [f"{error.__module__}.{error.__name__}" for error in self._expected]
        if exchange.reply["kind"] == "error" and any(base in expected for base in raised_types(exchange.reply)):
            raise Satisfied
        failure = from_reply(exchange.reply) or self._failure("no-error", f"expected {named(self._expected)}")
        failure.call = exchange.call
        if failure.kind != "stub":
            sentence = _("expected {expected}, got {problem}")
            failure.message = sentence.format(expected=named(self._expected), problem=failure.message)
        raise failure

    def _reference_raises(self, exchange: Exchange) -> bool:
        try:
            self.reference(exchange)
        except self._expected:
            return True
        return False
