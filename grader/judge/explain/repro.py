"""A failing case as a script: its calls, with inputs, weights and the expected result, and what differs in the end."""

from __future__ import annotations

import base64
import contextlib
import inspect
import re
import zlib
from typing import Any, Final

import torch

from grader.judge.cases.check import Check
from grader.judge.exchange.arguments import cast, expected_gradients, want
from grader.judge.exchange.compare import tolerance_of, tolerances
from grader.judge.exchange.results import Exchange, Result
from grader.judge.runs.outcome import CaseOutcome, failed_after
from grader.judge.tolerance import GRADIENT_SLACK, MEASURED, TABLE, Moves
from grader.judge.verdict.expected import MALFORMED
from grader.language import _
from grader.sandbox import drivers
from grader.sandbox.arguments import named_tensors
from grader.transport.callables import Step
from grader.transport.wire import dtype_name

WRITTEN_OUT: Final = 48
"""Tensors up to this size are written as numbers, larger ones packed."""

_HEAD = '''"""{about}

{case}
{message}

{run}
"""

import base64
import importlib.util
import pathlib
import zlib

import torch


def packed(dtype, shape, text):
    """{packed}"""
    data = bytearray(zlib.decompress(base64.b64decode(text)))
    return torch.frombuffer(data, dtype=dtype).reshape(shape).clone() if data else torch.empty(shape, dtype=dtype)


def tensors(value):
    """{tensors}"""
    if isinstance(value, (tuple, list)):
        return [t for item in value for t in tensors(item)]
    return [value] if isinstance(value, torch.Tensor) else []


def returned(value):
    """{returned}"""
    if isinstance(value, (tuple, list)):
        return type(value)(returned(item) for item in value)
    return value.detach() if isinstance(value, torch.Tensor) else value


def compare(name, got, expected, rooms):
    """{compare}"""
    mine, theirs = tensors(got), tensors(expected)
    if not theirs and not mine:
        return [] if got == expected else [f"{{name}}: {{got}}, {expected_word} {{expected}}"]
    if len(mine) != len(theirs):
        return [f"{{name}}: {{len(mine)}} {tensors_word}, {expected_word} {{len(theirs)}}"]
    found = []
    for number, (one, two, room) in enumerate(zip(mine, theirs, rooms)):
        label = f"{{name}}[{{number}}]" if len(theirs) > 1 else name
        if one.shape != two.shape:
            found.append(f"{{label}}: {shape_word} {{tuple(one.shape)}}, {expected_word} {{tuple(two.shape)}}")
        elif one.dtype != two.dtype:
            found.append(f"{{label}}: {{one.dtype}}, {expected_word} {{two.dtype}}")
        elif two.numel():
            one, two = one.detach().double().cpu(), two.double()
            wrong = ~((one == two) | ((one - two).abs() <= room))
            if wrong.any():
                at = tuple(wrong.nonzero()[0].tolist())
                found.append(f"{{label}}{{list(at)}}: {{one[at].item():.6g}}, {expected_word} {{two[at].item():.6g}}")
    return found


path = pathlib.Path(__file__).with_name({file!r})
spec = importlib.util.spec_from_file_location("answer", path)
answer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(answer)

'''


def script(shown: list[CaseOutcome], outcomes: list[CaseOutcome], kata: str, seed: int, filename: str) -> str:
    """Return the script for the first of the cases that are ``shown``, else for the smallest that fails.

    Empty where no call failed.
    """
    failing = [case for case in outcomes if case.failure is not None and _called(case)]
    if not failing:
        return ""
    smallest = min(failing, key=lambda case: case.failure.size if case.failure else 0)
    case = next((case for case in shown if case in failing), smallest)
    assert case.check is not None
    assert case.failure is not None
    name = f"repro_{kata.replace('-', '_')}.py"
    head = _HEAD.format(
        about=_("A failing case of a grading of {kata}, for a debugger: all its calls.").format(kata=kata),
        case=_("case {case} ({title}), seed {seed}").format(case=case.id, title=case.title, seed=seed),
        message=_plain(case.failure.message),
        run=_("Run it beside {file}:  python {script}").format(file=filename, script=name),
        file=filename,
        packed=_("A tensor from its bytes."),
        tensors=_("The tensors in a result."),
        returned=_("What an earlier call returned, as it is handed back: without its graph."),
        compare=_("Say what differs."),
        expected_word=_("expected"),
        tensors_word=_("tensors"),
        shape_word=_("shape"),
    )
    exchanges = _called(case)
    while exchanges:
        if exchanges[-1].header["op"] == "call":
            with contextlib.suppress(*MALFORMED):  # it was to get a part of an earlier result that is not there
                driven = any(exchange.header.get("driver") for exchange in exchanges)
                scenes = f"\n# {_('What the answer is put into')}\n{inspect.getsource(drivers)}\n\n" if driven else ""
                return head + scenes + "\n".join(_lines(case.check, exchanges)) + "\n"
        exchanges.pop()
    return ""


def _lines(check: Check, exchanges: list[Exchange]) -> list[str]:
    """Return what makes these calls, and compares what the last one returned."""
    lines: list[str] = []
    modules: dict[int, str] = {}
    switched: set[int] = set()
    results: dict[int, str] = {}
    for exchange in exchanges:
        handle = exchange.header["handle"]
        if exchange.header["op"] == "build":
            again = handle in modules
            modules.setdefault(handle, f"module_{len(modules) + 1}" if modules else "module")
            lines += _module_lines(check, exchange, modules[handle], again=again)
            if exchange.header["wants_module"]:
                switched.add(handle)
            continue
        is_last = exchange is exchanges[-1]
        results[exchange.key] = "got" if is_last else f"got_{len(results) + 1}"
        module = modules.get(handle, "") if handle is not None else ""
        if handle in switched:
            lines.append(f"{module}.train()" if exchange.header["train"] else f"{module}.eval()")
        lines += [*_call_lines(check, exchange, module, results, is_last=is_last), ""]
    return lines[:-1]


def _called(case: CaseOutcome) -> list[Exchange]:
    """Return what a case asked for up to the failing call; nothing where it was no call that failed."""
    exchanges = failed_after(case)
    return exchanges if exchanges and exchanges[-1].header["op"] == "call" else []


def _module_lines(check: Check, build: Exchange, name: str, *, again: bool) -> list[str]:
    args, kwargs = build.trees["args"], build.trees["kwargs"]
    given = ", ".join([*map(repr, args), *(f"{key}={value!r}" for key, value in kwargs.items())])
    made = f"answer.{build.header['entry']}({given})" + (
        f".to({check.variant.dtype})" if build.header["wants_module"] else ""
    )
    lines = [] if again else [f"{name} = {made}"]
    state = cast(build.trees["state"], check.variant.dtype)
    if state:
        lines.append("with torch.no_grad():")
        lines += [f"    {name}.get_parameter({part!r}).copy_({_literal(value)})" for part, value in state.items()]
    return [*lines, ""]


def _call_lines(check: Check, exchange: Exchange, module: str, results: dict[int, str], *, is_last: bool) -> list[str]:
    header, names = exchange.header, exchange.header["names"]
    args = cast(exchange.trees["args"], check.variant.dtype)
    kwargs = cast(exchange.trees["kwargs"], check.variant.dtype)
    asking = _asking(exchange)
    lines = [f"{module}.requires_grad_(False)"] if is_last and module and asking else []
    written: dict[int, str] = {}

    def write(value: Any, name: str) -> str:
        if isinstance(value, Result):
            return f"returned({results[value.exchange.key]}{''.join(f'[{part!r}]' for part in value.path)})"
        if isinstance(value, torch.Tensor):
            if id(value) not in written:
                written[id(value)] = name
                asks = header["grad"] and value.is_floating_point() and (asking is None or name in asking)
                grad = ".requires_grad_()" if asks else ""
                lines.append(f"{name} = {_literal(value)}{grad}")
            return written[id(value)]
        if isinstance(value, (tuple, list)):
            parts = [write(item, f"{name}_{index}") for index, item in enumerate(value)]
            inside = ", ".join(parts) + ("," if isinstance(value, tuple) and len(parts) == 1 else "")
            return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
        if isinstance(value, Step):
            lines.extend(_step_lines(value, name))
            return name
        return repr(str(value)) if isinstance(value, str) else repr(value)

    given = [write(value, names[i] if i < len(names) else f"argument_{i + 1}") for i, value in enumerate(args)]
    given += [f"{key}={write(value, key)}" for key, value in kwargs.items()]
    (called, given), result = _called_as(header, module, given), results[exchange.key]
    if header.get("unroll"):
        lines += _unrolled_lines(module, result, given, *header["unroll"], is_last=is_last)
    else:
        here = f"  # {_('a good line for a breakpoint')}" if is_last else ""
        line = f"{result} = {called}({', '.join(given)}){here}"
        if header["method"] and not header["names"]:  # a method without arguments, or an attribute
            line = f"{result} = {called}() if callable({called}) else {called}{here}"
        lines += ["", *_recorded(line, check.variant.recording)]
    if not is_last:
        return lines
    lines += ['print("got", got, sep="\\n")']
    return lines + _expectation(check, exchange, module, set(written.values()))


def _variable(name: str) -> str:
    return re.sub(r"\[(\d+)\]", r"_\1", name).replace(" ", "_")


def _asking(exchange: Exchange) -> set[str] | None:
    """Return the inputs of which a gradient is asked, none where weights alone are; None where it is of everything."""
    if "asks" not in exchange.header or not exchange.want_grads:
        return None
    trees, names = exchange.trees, exchange.header["names"]
    inputs = {_variable(name) for name, _tensor in named_tensors(want(trees["args"]), want(trees["kwargs"]), names)}
    asked = {_variable(name) for name in expected_gradients(exchange)}
    return None if asked - inputs and asked & inputs else asked & inputs


def _called_as(header: dict[str, Any], module: str, given: list[str]) -> tuple[str, list[str]]:
    """Write what is called, and the arguments: of a scene the first one is the answer's."""
    called = module or f"answer.{header['entry']}"
    if header.get("driver"):
        return header["driver"], [called, *given]
    return called + (f".{header['method']}" if header["method"] else ""), given


def _recorded(line: str, recording: str) -> list[str]:
    return [f"with torch.{recording}():", f"    {line}"] if recording else [line]


def _unrolled_lines(
    module: str, result: str, given: list[str], start: str, count: int, branches: int, meanwhile: int, *, is_last: bool
) -> list[str]:
    """Write a state, another one if there is one meanwhile, and the calls that begin with it."""
    another = [f"{module}.{start}({', '.join(given[count : count + meanwhile])})"] if meanwhile else []
    lines = [
        "",
        f"state = {module}.{start}({', '.join(given[:count])})",
        *another,
        f"{result} = []",
        f"for part in ({', '.join(given[count + meanwhile :])},):",
    ]
    after = "_" if branches else "state"
    here = f"  # {_('a good line for a breakpoint')}" if is_last else ""
    return [
        *lines,
        f"    result, {after} = {module}(part, state){here}",
        f"    {result}.append(result)",
    ]


def _step_lines(step: Step, name: str) -> list[str]:
    """Write a model for one step of decoding as a function."""
    rounded = "".join(f".to({dtype})" for dtype in step.dtypes)
    return [
        f"{name}_table = {_literal(step.table)}",
        "",
        "",
        f"def {name}(tokens):",
        f'    """{_("Logits: a sum over the tokens of each prefix.")}"""',
        f"    return {name}_table[torch.arange(tokens.size(1)), tokens.cpu()].sum(dim=1){rounded}",
        "",
        "",
    ]


def _expectation(check: Check, exchange: Exchange, module: str, variables: set[str]) -> list[str]:
    expected, grads = exchange.want, exchange.want_grads
    if expected is None and exchange.compared:  # the call raised
        with contextlib.suppress(Exception):
            expected, grads = check.reference(exchange)
        check.grading.reference.release(check.handles)
    if expected is None:  # nothing was compared
        return []
    moves, dtype = _moves(check, exchange), check.variant.dtype
    named = exchange.names[0] if len(exchange.names) == 1 and exchange.names[0] else _("result")
    lines = ["", f"expected = {_value(cast(expected, check.variant.dtype))}", 'print("expected", expected, sep="\\n")']
    rooms = ", ".join(f"{room.most:.4g}" for room in tolerances(expected, dtype, moves.results))
    lines.append(f"wrong = compare({named!r}, got, expected, [{rooms}])")
    if exchange.header["grad"]:
        lines += [
            "",
            f"# {_('The gradients that were compared are those of this scalar:')}",
            "for t in [t for t in tensors(got) if t.requires_grad]:",
            "    weights = torch.cos(1.7 * torch.arange(t.numel()) + 0.3).to(t).reshape(t.shape)",
            "    (t * weights).sum().backward(retain_graph=True)",
        ]
        asked = expected_gradients(exchange)
        for name, gradient in grads.items():
            if gradient is not None and ("asks" not in exchange.header or name in asked):
                variable = _variable(name)
                where = variable if variable in variables else f"{module}.get_parameter({name!r})"
                wanted = f"torch.zeros_like({where}) if {where}.grad is None else {where}.grad"
                room = tolerance_of(gradient, dtype, moves.of(name), GRADIENT_SLACK).most
                lines += [
                    f"expected = {_value(gradient)}",
                    f'print("gradient of {name}", {where}.grad, "expected", expected, sep="\\n")',
                    f'wrong += compare("gradient of {name}", {wanted}, expected, [{room:.4g}])',
                ]
    return [*lines, f'print(*(wrong or ["{_("agrees now")}"]), sep="\\n")']


def _moves(check: Check, exchange: Exchange) -> Moves:
    """Return how far correct computations lie apart in a call, which nobody had to know where it failed otherwise."""
    if exchange.moves is None and exchange.compared and check.variant.dtype in MEASURED:
        exchange.moves = check.measure(exchange)
        check.grading.reference.release(check.handles)
    return exchange.moves or TABLE


def _value(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"({''.join(f'{_value(item)}, ' for item in value)})"
    return _literal(value) if isinstance(value, torch.Tensor) else repr(value)


def _literal(tensor: torch.Tensor) -> str:
    """Write a tensor as an expression; expanded and transposed ones are so again."""
    tensor, strides = tensor.detach(), tensor.stride()
    order = sorted(range(tensor.dim()), key=lambda axis: -strides[axis])
    expanded = [axis for axis, stride in enumerate(strides) if stride == 0 and tensor.size(axis) > 1]
    if expanded:
        base = tensor
        for axis in expanded:
            base = base.narrow(axis, 0, 1)
        return f"{_literal(base.contiguous())}.expand{tuple(tensor.shape)}"
    if order != list(range(tensor.dim())) and tensor.numel() and not tensor.is_contiguous():
        back = tuple(sorted(range(len(order)), key=order.__getitem__))
        return f"{_literal(tensor.permute(order).contiguous())}.permute{back}"
    if not tensor.numel():
        return f"torch.empty({tuple(tensor.shape)}, dtype={tensor.dtype})"
    tensor = tensor.contiguous()
    if tensor.numel() <= WRITTEN_OUT and bool(tensor.isfinite().all()):
        exact = tensor.dtype == torch.float64
        return f"torch.tensor({_numbers(tensor.tolist(), exact=exact)}, dtype={tensor.dtype})"
    data = tensor.flatten().view(torch.uint8) if tensor.dim() else tensor.reshape(1).view(torch.uint8)
    text = base64.b64encode(zlib.compress(bytes(data.tolist()))).decode()
    return f"packed(torch.{dtype_name(tensor.dtype)}, {tuple(tensor.shape)}, {text!r})"


def _numbers(value: Any, *, exact: bool) -> str:
    """Write numbers with as many digits as they need to come back as they were: 9 but for float64."""
    if isinstance(value, list):
        return f"[{', '.join(_numbers(item, exact=exact) for item in value)}]"
    return f"{value:.9g}" if isinstance(value, float) and not exact else repr(value)


def _plain(text: str) -> str:
    return text.replace("\\", "/").replace('"""', "'''")
