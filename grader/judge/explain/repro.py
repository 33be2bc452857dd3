"""The smallest failing call as a script of a few lines: inputs, weights and the expected result are in it."""

from __future__ import annotations

import base64
import contextlib
import re
import zlib
from typing import Any, Final

import torch

from grader.judge.cases.check import Check
from grader.judge.exchange.arguments import cast, got
from grader.judge.exchange.results import Exchange
from grader.judge.runs.outcome import CaseOutcome, failed_after
from grader.judge.verdict.expected import MALFORMED
from grader.language import _
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


path = pathlib.Path(__file__).with_name({file!r})
spec = importlib.util.spec_from_file_location("answer", path)
answer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(answer)

'''


def script(outcomes: list[CaseOutcome], kata: str, seed: int, filename: str) -> str:
    """Return the script for the smallest failing call; empty where no call failed."""
    failing = [case for case in outcomes if case.failure is not None and _called(case)]
    if not failing:
        return ""
    case = min(failing, key=lambda case: case.failure.size if case.failure else 0)
    assert case.check is not None
    assert case.failure is not None
    name = f"repro_{kata.replace('-', '_')}.py"
    head = _HEAD.format(
        about=_("The smallest failing call of a grading of {kata}, for a debugger.").format(kata=kata),
        case=_("case {case} ({title}), seed {seed}").format(case=case.id, title=case.title, seed=seed),
        message=_plain(case.failure.message),
        run=_("Run it beside {file}:  python {script}").format(file=filename, script=name),
        file=filename,
        packed=_("A tensor from its bytes."),
        tensors=_("The tensors in a result."),
    )
    exchanges = _called(case)
    while exchanges:
        if exchanges[-1].header["op"] == "call":
            with contextlib.suppress(*MALFORMED):  # it was to get a part of an earlier result that is not there
                return head + "\n".join(_lines(case.check, exchanges)) + "\n"
        exchanges.pop()
    return ""


def _lines(check: Check, exchanges: list[Exchange]) -> list[str]:
    """Return what makes the last of these calls."""
    last = exchanges[-1]
    module = [] if last.header["handle"] is None else _module_lines(check, exchanges)
    return module + _call_lines(check, last)


def _called(case: CaseOutcome) -> list[Exchange]:
    """Return what a case asked for up to the failing call; nothing where it was no call that failed."""
    exchanges = failed_after(case)
    return exchanges if exchanges and exchanges[-1].header["op"] == "call" else []


def _module_lines(check: Check, exchanges: list[Exchange]) -> list[str]:
    handle = exchanges[-1].header["handle"]
    build = next(e for e in reversed(exchanges) if e.header["op"] == "build" and e.header["handle"] == handle)
    args, kwargs = build.trees["args"], build.trees["kwargs"]
    given = ", ".join([*map(repr, args), *(f"{key}={value!r}" for key, value in kwargs.items())])
    lines = [f"module = answer.{build.header['entry']}({given}).to({check.variant.dtype})"]
    state = cast(build.trees["state"], check.variant.dtype)
    if state:
        lines.append("with torch.no_grad():")
        lines += [f"    module.get_parameter({name!r}).copy_({_literal(value)})" for name, value in state.items()]
    lines.append("module.train()" if exchanges[-1].header["train"] else "module.eval()")
    return [*lines, ""]


def _call_lines(check: Check, exchange: Exchange) -> list[str]:
    header, names = exchange.header, exchange.header["names"]
    args = cast(got(exchange.trees["args"]), check.variant.dtype)
    kwargs = cast(got(exchange.trees["kwargs"]), check.variant.dtype)
    lines: list[str] = []
    written: dict[int, str] = {}

    def write(value: Any, name: str) -> str:
        if isinstance(value, torch.Tensor):
            if id(value) not in written:
                written[id(value)] = name
                grad = ".requires_grad_()" if header["grad"] and value.is_floating_point() else ""
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
    called = f"answer.{header['entry']}" if header["handle"] is None else "module"
    called += f".{header['method']}" if header["method"] else ""
    if header.get("unroll"):
        lines += _unrolled_lines(given, *header["unroll"])
    else:
        line = f"got = {called}({', '.join(given)})  # {_('a good line for a breakpoint')}"
        lines += ["", *_recorded(line, check.variant.recording)]
    lines += ['print("got", got, sep="\\n")']
    return lines + _expectation(check, exchange, set(written.values()))


def _recorded(line: str, recording: str) -> list[str]:
    return [f"with torch.{recording}():", f"    {line}"] if recording else [line]


def _unrolled_lines(given: list[str], start: str, count: int, branches: int) -> list[str]:
    """Write a state and the calls that begin with it."""
    lines = [
        "",
        f"state = module.{start}({', '.join(given[:count])})",
        "got = []",
        f"for part in ({', '.join(given[count:])},):",
    ]
    after = "_" if branches else "state"
    return [
        *lines,
        f"    result, {after} = module(part, state)  # {_('a good line for a breakpoint')}",
        "    got.append(result)",
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


def _expectation(check: Check, exchange: Exchange, variables: set[str]) -> list[str]:
    if exchange.want is None:  # the call raised, or nothing was compared
        return []
    expected, grads = exchange.want, exchange.want_grads
    lines = ["", f"expected = {_value(cast(expected, check.variant.dtype))}", 'print("expected", expected, sep="\\n")']
    if exchange.header["grad"]:
        lines += [
            "",
            f"# {_('The gradients that were compared are those of this scalar:')}",
            "for t in [t for t in tensors(got) if t.requires_grad]:",
            "    weights = torch.cos(1.7 * torch.arange(t.numel()) + 0.3).to(t).reshape(t.shape)",
            "    (t * weights).sum().backward(retain_graph=True)",
        ]
        for name, gradient in grads.items():
            if gradient is not None:
                variable = re.sub(r"\[(\d+)\]", r"_\1", name).replace(" ", "_")
                where = variable if variable in variables else f"module.get_parameter({name!r})"
                lines += [f'print("gradient of {name}", {where}.grad, "expected", {_value(gradient)}, sep="\\n")']
    return lines


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
