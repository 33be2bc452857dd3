"""Where failures come from that are no wrong numbers: gradients, dtypes, changed inputs, layers, missing checks."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import replace

import torch

from grader.judge.cases.check import Check
from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate import backward
from grader.judge.explain.locate.around import Around
from grader.judge.explain.locate.attributes import attribute
from grader.judge.explain.locate.defaults import other_default
from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.hidden import taken_out
from grader.judge.explain.locate.places import asked_for, handed_back, lines_of, located, makers, sizes_of
from grader.judge.explain.locate.region import Alignment
from grader.judge.explain.locate.statements import Statements
from grader.judge.explain.locate.traces import Step, Trace, calls_before, of_answer, of_reference
from grader.judge.explain.locate.words import FEW, Located
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _, plural
from grader.probes.lines import RESULT
from grader.text import clean
from grader.transport.wire import dtype_name, tensors_in

WIDTH = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
WITHOUT_GRADIENTS = re.compile("no_grad|inference_mode|set_grad_enabled")
A_DTYPE = re.compile("float|half|bfloat|double|dtype", re.IGNORECASE)
A_DEVICE = re.compile("device|cpu", re.IGNORECASE)
OF_SCENES = re.compile(r": (?P<name>\w+) (has the shape|is an?) (?P<mine>.+), expected (an )?(?P<expected>.+)$")
"""What a scene says of a parameter that is another one than the contract's (``sandbox/drivers.py``)."""
LEARNS = re.compile(r"but requires_grad is (True|False) for (?P<names>[\w., ]+)$")
"""What a scene says of parameters that are trained and should not be, or the other way round."""


def gradient(case: CaseOutcome, exchange: Exchange, statements: Statements) -> Located | None:
    """Find the lines that leave the graph on the way to the result."""
    assert case.check is not None
    trace = of_answer(case.check, exchange, {"grad": True})
    if trace is None:
        return None
    numbers = _behind_results(trace, exchange)
    lines = lines_of((trace.steps[number] for number in numbers if trace.steps[number].cuts), statements)
    if case.failure is not None and case.failure.kind != "no-gradient":  # what the reference says as well is none
        model, mine = flow_of(case.check.grading.reference_text), flow_of(statements.source)
        lines = tuple(line for line in lines if mine.is_own(line, model))
        is_nan = any(bool(grad.isnan().any()) for grad in tensors_in(list(exchange.grads.values())))
        if is_nan and not lines and (hidden := taken_out(trace, numbers)) is not None:
            others = tuple(line for line in lines_of(hidden.steps, statements) if mine.is_own(line, model))
            if others:
                return located(case, others, _(hidden.sentence), title=_(hidden.title))
    if lines and (found := backward.written(case, exchange, lines, statements)) is not None:
        return found
    lines = _beneath(lines, case.check, statements)
    sentence = _("The graph ends in {where}: what goes in carries a gradient, what comes out does not.")
    return located(case, lines, sentence, title=_("a gradient is cut off"))


def _beneath(lines: tuple[int, ...], check: Check, statements: Statements) -> tuple[int, ...]:
    """Return the blocks without gradients that lines stand in, and which of them do; all lines where none does."""
    flow, model = flow_of(statements.source), flow_of(check.grading.reference_text)
    heads = {line: [at for at in flow.at(line).heads if WITHOUT_GRADIENTS.search(flow.at(at).text)] for line in lines}
    own = {line: [at for at in found if flow.is_own(at, model)] for line, found in heads.items()}
    blocks = tuple(dict.fromkeys(at for found in own.values() for at in found))
    inside = tuple(line for line in lines if own[line])
    return (*blocks, *inside) if blocks else lines


def dtype(case: CaseOutcome, exchange: Exchange, statements: Statements) -> Located | None:
    """Find the first lines from which on a result has another dtype than it should."""
    assert case.check is not None
    got = list(tensors_in(exchange.value))
    for leaf, theirs in zip(got, tensors_in(exchange.want), strict=False):
        expected = case.check.variant.dtype if theirs.dtype == torch.float64 else theirs.dtype
        name = dtype_name(leaf.dtype)
        if leaf.dtype == expected:
            continue
        lines: tuple[int, ...] = ()
        for call in (exchange, *calls_before(case.check, exchange)):
            trace = of_answer(case.check, call)
            end = Alignment.made(trace, leaf) if trace is not None else None
            if trace is not None and end is not None:
                met = entries(trace, end, name, dtype_name(expected))
                own = [step.line for step in met if any(trace.steps[read].is_source for read in step.reads)]
                made = makers(own, statements, case.check.grading.reference_text)
                chosen = [at for at in made if A_DTYPE.search(flow_of(statements.source).at(at).text)]
                lines = tuple(dict.fromkeys((*chosen, *lines_of(met, statements))))
                lines = _with_the_end(lines, trace, case.check, statements) if call is exchange else lines
            if lines:
                break
        if not lines:  # what was handed in is handed back
            return structure(case, exchange, statements)
        sentence = _("From {where} on it is {dtype}, not {expected}.")
        words = {"dtype": name, "expected": dtype_name(expected)}
        return located(case, lines, sentence, title=_("a result has the wrong dtype"), **words)
    return None


def _with_the_end(lines: tuple[int, ...], trace: Trace, check: Check, statements: Statements) -> tuple[int, ...]:
    """Add where a result is handed back that might have been brought back to its dtype there."""
    flow, model = flow_of(statements.source), flow_of(check.grading.reference_text)
    ends = [*handed_back(trace, statements), statements.of(trace.returned)]
    ends = [end for end in dict.fromkeys(ends) if end and end not in lines and flow.is_own(end, model)]
    return (*lines, *ends)[: max(FEW, len(lines)) + (len(lines) == FEW)]


def device(case: CaseOutcome, exchange: Exchange, statements: Statements) -> Located | None:
    """Find the lines that make a tensor on the CPU of which a result is made that must be elsewhere."""
    assert case.check is not None
    trace = of_answer(case.check, exchange)
    if trace is None:
        return None
    here = [n for n in _behind_results(trace, exchange) if trace.steps[n].device == "cpu" and trace.steps[n].line]
    first = [n for n in here if not any(read in here for read in trace.steps[n].reads)]
    lines = lines_of((trace.steps[n] for n in first), statements)
    if lines:
        model, flow = case.check.grading.reference_text, flow_of(statements.source)
        made = makers((trace.steps[n].line for n in first), statements, model)
        chosen = [at for at in made if A_DEVICE.search(flow.at(at).text)]
        lines = tuple(dict.fromkeys((*chosen, *lines, *Around(trace, statements, None, model).lines(first))))
    return located(
        case,
        lines,
        _("It comes to the CPU in {where}."),
        title=_("a tensor is on the CPU, whatever the caller's device"),
    )


def precision(case: CaseOutcome, exchange: Exchange, statements: Statements) -> Located | None:
    """Find the lines at which numbers go through a shorter dtype than they have, where the reference's do not."""
    assert case.check is not None
    dtypes = [dtype_name(leaf.dtype) for leaf in tensors_in(exchange.value)]
    mine = max((name for name in dtypes if name in WIDTH), key=WIDTH.__getitem__, default="")
    mine = max(mine or "float16", dtype_name(case.check.variant.dtype), key=lambda name: WIDTH.get(name, 0))
    if mine not in WIDTH:
        return None
    trace, model = of_answer(case.check, exchange), of_reference(case.check, exchange)
    if trace is None or model is None or _narrow(model.steps, "float64"):
        return None
    short = _narrow([trace.steps[number] for number in _behind_results(trace, exchange)], mine)
    short = short or _narrow(trace.steps, mine)  # on the way through a number of Python's
    known = {id(step) for step in short}
    entries = [step for step in short if not any(id(trace.steps[read]) in known for read in step.reads)]
    lines = lines_of(entries, statements)
    names = {step.dtype for step in short}
    if len(names) != 1:
        return None
    chosen = _choices(trace, entries, case.check, statements)
    lines = tuple(dict.fromkeys((*chosen, *lines)))[: max(FEW, len(chosen))] if chosen else lines
    sentence = _("Numbers of {dtype} go through {short}: {where}.")
    return located(case, lines, sentence, title=_("digits are lost"), dtype=mine, short=names.pop())


def _choices(trace: Trace, entries: Iterable[Step], check: Check, statements: Statements) -> list[int]:
    """Return where it was chosen in which dtype steps are made, other than the reference does: for a name of theirs.

    So it may be in a function that they call.
    """
    flow, model = flow_of(statements.source), flow_of(check.grading.reference_text)
    passed, found = trace.passed, list[int]()
    for step in entries:
        if not 0 <= step.at < len(passed):
            continue
        one = passed[step.at]
        reads = flow.at(one.line).reads
        for at, _text in (given for name in flow.at(one.line).attributes for given in statements.given(name, one.line)):
            makers = (flow.at(at), *(s for s in flow.every() if not s.stores.isdisjoint(flow.at(at).reads)))
            found += [s.line for s in makers if f"'{step.dtype}'" in s.text and flow.is_own(s.line, model)]
        for number in range(step.at, -1, -1):
            other = passed[number]
            here = other.frame == one.frame and not reads.isdisjoint(other.made)
            if number == step.at or flow.at(other.line).begins or not (here or other.caller == step.at):
                continue
            text = flow.at(other.line).text
            is_choice = A_DTYPE.search(text) and flow.is_own(other.line, model)
            if is_choice and not any(s.at == number for s in trace.steps):
                found.append(flow.at(other.line).line)
        inner = (n for n in range(step.at + 1, len(passed)) if passed[n].caller == step.at)
        texts = ((flow.at(passed[n].line), passed[n]) for n in inner)
        found += [
            at.line
            for at, ran in texts
            if A_DTYPE.search(at.text) and flow.is_own(at.line, model) and RESULT in ran.made and not at.begins
        ]
    return list(dict.fromkeys(found))


def structure(case: CaseOutcome, exchange: Exchange, statements: Statements) -> Located | None:
    """Find the line that returned the last result."""
    assert case.check is not None
    trace = of_answer(case.check, exchange)
    if trace is None or not trace.returned:
        return None
    model, mine = flow_of(case.check.grading.reference_text), flow_of(statements.source)
    ends = [at for at in handed_back(trace, statements) if mine.is_own(at, model)]
    lines = tuple(dict.fromkeys((*ends[: FEW - 1], statements.of(trace.returned))))
    return located(
        case, lines, _("It is what {where} returns."), title=_("the result has another form than in the task")
    )


def parameters(case: CaseOutcome, exchange: Exchange, statements: Statements) -> Located | None:
    """Find the line that makes the layer which is not as the contract has it."""
    assert case.check is not None
    entry = exchange.header["entry"]
    own = {name: tuple(shape) for name, shape in exchange.reply.get("parameters", ()) if type(shape) is list}
    state = {name: tuple(value.shape) for name, value in exchange.trees["state"].items()}
    wrong = [name for name, shape in state.items() if own.get(name, shape) != shape]
    wrong += [name for name in (*own, *state) if name not in state or name not in own]
    added = {name.rpartition(".")[2] for name in {*own} ^ {*state}}
    if len(added) == 1 and (found := other_default(case, exchange, statements, *added)) is not None:
        return found
    found, title = None, _("the layers are not those of the task")
    for name in wrong:
        line = statements.attribute(entry, name.partition(".")[0]) or statements.buffer(entry, name)
        if line:
            began = statements.function(entry, "__init__") if statements.takes_default(entry, line) else 0
            lines = (line, *sizes_of(line, statements, case.check.grading.reference_text), *([began] if began else []))
            sentence = _("`{name}` is other than in the task: its layer is made in {where}.")
            found = located(case, lines[:FEW], sentence, title=title, name=clean(name, 60))
            break
    else:
        line = statements.function(entry, "__init__")
        sentence = _("The layers are made in `__init__`, which begins in {where}.")
        found = located(case, (line,) if line else (), sentence, title=title)
    called, here = _other_names(own, state)
    if found is None or not called:
        return found
    title = plural("a layer has another name than in the task", "layers have other names than in the task", len(called))
    pairs = _(", ").join(f"`{mine}` → `{theirs}`" for mine, theirs in zip(here, called, strict=True))
    push = _("Call them as the task does: {names}. Weights are put into layers by their names.").format(names=pairs)
    return replace(found, sentence="", title=title, push=push)


def called(case: CaseOutcome, exchange: Exchange, statements: Statements) -> Located | None:
    """Find the function that cannot be called like that, or the attribute that is not as the contract has it."""
    assert case.failure is not None
    assert case.check is not None
    owner, name = asked_for(case, exchange)
    line = statements.function(owner, name)
    if line and "argument" in case.failure.message:
        return _not_taken(case, (owner, name), line, statements)
    if (other := LEARNS.search(case.failure.message)) is not None:
        names = re.split(r", | or ", other["names"])
        lines = (*_choosing_who_learns(case.check, statements), *_given_to(names, statements))
        return located(case, tuple(dict.fromkeys(lines))[:FEW], _("It is made in {where}."))
    if (other := OF_SCENES.search(case.failure.message)) is not None:
        return _another_parameter(case, other, statements.attribute("", other["name"]))
    is_function = exchange.header["op"] == "call" and exchange.header["handle"] is None
    is_late = is_function and "callable" not in case.failure.message  # what came of it fails
    return None if is_late else attribute(case, exchange, statements)


def _choosing_who_learns(check: Check, statements: Statements) -> list[int]:
    """Return the statements that say what is trained, or make a parameter anew, other than the reference does."""
    flow, model = flow_of(statements.source), flow_of(check.grading.reference_text)
    own = [one for one in flow.every() if flow.is_own(one.line, model)]
    anew = [one.line for one in own if "'Parameter'" in one.text and "attr='weight', ctx=Store()" in one.text]
    return [*anew, *(one.line for one in own if "requires_grad" in one.text)]


def _given_to(names: Iterable[str], statements: Statements) -> tuple[int, ...]:
    """Return the lines at which layers with such parameters are made, or changed."""
    found: dict[int, None] = {}
    for layer in dict.fromkeys(name.partition(".")[0] for name in names):
        line = statements.attribute("", layer)
        found |= dict.fromkeys([line, *(at for at, _text in statements.given(layer, line))] if line else [])
    return tuple(found)


def _another_parameter(case: CaseOutcome, said: re.Match[str], line: int) -> Located | None:
    """Say what a parameter is, and what it is in the task."""
    title = (
        _("`{name}` has the shape {mine}, in the task {expected}")
        if said[2] == "has the shape"
        else _("`{name}` is a `{mine}`, in the task an `{expected}`")
    )
    found = located(case, (line,) if line else (), _("It is made in {where}."))
    return replace(found, title=title.format(**said.groupdict())) if found is not None else None


def _other_names(own: Iterable[str], state: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the layers that are there under another name, as the contract has them and as the answer does.

    Names differ in their spelling, or there is one layer too many and one too few.
    """
    mine, theirs = ({name.partition(".")[0]: None for name in names} for names in (own, state))
    spare = {name.replace("_", "").lower(): name for name in mine if name not in theirs}
    missing = [name for name in theirs if name not in mine]
    if len(missing) == len(spare) == 1:
        return missing, list(spare.values())
    pairs = [(name, spare[key]) for name in missing if (key := name.replace("_", "").lower()) in spare]
    return (
        ([name for name, _mine in pairs], [mine for _name, mine in pairs]) if len(pairs) == len(missing) else ([], [])
    )


def _not_taken(case: CaseOutcome, asked: tuple[str, str], line: int, statements: Statements) -> Located | None:
    """Say which arguments of the contract a function does not take."""
    assert case.check is not None
    owner, name = asked
    entry = case.check.grading.reference.executor.namespace[owner]
    signature = inspect.signature(getattr(entry, name) if name else entry)
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    given = str(signature.replace(parameters=bare, return_annotation=signature.empty))
    lacking = [p.name for p in bare if p.name not in statements.arguments(owner, name)]
    begin = _("`{name}` begins in {where}; the task has `{signature}`.")
    found = located(case, (line,), begin, name=name or owner, signature=f"{name or owner}{given}")
    words = {"name": name or owner, "arguments": _(", ").join(f"`{one}`" for one in lacking)}
    title = (
        _("`{name}` does not take {arguments}")
        if lacking
        else _("`{name}` is called with other arguments than it takes")
    )
    return replace(found, title=title.format(**words)) if found is not None else None


def _behind_results(trace: Trace, exchange: Exchange) -> list[int]:
    """Return what the results were made of; all steps where it is not known which ones they are."""
    ends = [end for leaf in tensors_in(exchange.value) if (end := Alignment.made(trace, leaf)) is not None]
    if not ends:
        return list(range(len(trace.steps)))
    return sorted({number for end in ends for number in trace.behind(end, ())[0]})


def entries(trace: Trace, end: int, dtype: str, expected: str) -> list[Step]:
    """Return the steps through which a dtype comes in, of those with it that lead to a result one after the other.

    Behind them stand those at which it meets the dtype that is ``expected``, and stays.
    """
    found: list[Step] = []
    mixing: list[Step] = []
    left, seen = [end], set[int]()
    while left:
        number = left.pop()
        step = trace.steps[number]
        if number in seen:
            continue
        seen.add(number)
        before = [read for read in step.reads if trace.steps[read].dtype == dtype]
        sources = [read for read in before if trace.steps[read].is_source]
        if sources or not before:
            found.append(step)
        elif any(trace.steps[read].dtype == expected and trace.steps[read].shape for read in step.reads):
            mixing.append(step)
        left.extend(read for read in before if not trace.steps[read].is_source)
    return found + mixing


def _narrow(steps: Iterable[Step], dtype: str) -> list[Step]:
    """Return the steps of a shorter floating dtype that are made of nothing so short."""
    return [step for step in steps if step.line and WIDTH.get(step.dtype, 8) < WIDTH[dtype]]
