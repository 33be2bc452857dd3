"""From the names of forbidden functions to what can be recognised while code runs: code objects and operators."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import torch
from torch import nn

# out of bounds in every kata that does not allow them
COMMON_FORBIDDEN = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention",
    "torch.nn.Transformer*",
    "torch.nn.attention.*",
    "torch.masked.softmax",
)

# the operators below a function whose names do not follow from its own
_OPERATORS = {
    "torch.nn.functional.scaled_dot_product_attention": (
        "scaled_dot_product_attention",
        "_scaled_dot_product_*",
        "_flash_attention_forward*",
        "_efficient_attention_forward",
        "_cudnn_attention_forward",
    ),
    "torch.nn.functional.multi_head_attention_forward": ("multi_head_attention_forward",),
    "torch.nn.MultiheadAttention": ("_native_multi_head_attention", "_triton_multi_head_attention"),
    "torch.nn.Transformer*": ("_transformer_encoder_layer_fwd",),
    "torch.masked.softmax": (),
}
# and the usual forms of all others: in place, private, fused
_FORMS = ("{}", "{}_", "_{}", "native_{}", "special_{}", "_fused_{}", "_safe_{}")


@dataclass(frozen=True)
class Rule:
    """A name from a list, and whether it is allowed after all."""

    name: str
    allowed: bool


@dataclass
class Rules:
    """What is out of bounds: Python functions by code object or package, operators by pattern."""

    codes: dict[CodeType, Rule | None] = field(default_factory=dict)
    packages: list[tuple[str, Rule]] = field(default_factory=list)
    operators: list[tuple[str, str]] = field(default_factory=list)
    names: dict[Any, str | None] = field(default_factory=dict)
    """Under which name each torch function that was met is reported, None where it may be called."""
    _known_operators: dict[str, str | None] = field(default_factory=dict)

    def of_code(self, code: CodeType) -> Rule | None:
        """Return the rule for a Python function."""
        try:
            return self.codes[code]
        except KeyError:
            path = code.co_filename
            found = [rule for prefix, rule in self.packages if path.startswith(prefix) and code.co_name != "<module>"]
            self.codes[code] = found[0] if found else None
            return self.codes[code]

    def of_operator(self, base: str) -> str | None:
        """Return the forbidden name below which an operator lies, by the operator's name without namespace."""
        if base not in self._known_operators:
            found = [name for pattern, name in self.operators if fnmatchcase(base, pattern)]
            self._known_operators[base] = found[0] if found else None
        return self._known_operators[base]


_ready: dict[tuple[tuple[str, ...], tuple[str, ...]], Rules] = {}


def rules_for(forbidden: tuple[str, ...], allowed: tuple[str, ...]) -> Rules:
    """Return the rules of a kata: the common names and `forbidden` less `allowed`. ValueError: no such name."""
    key = (forbidden, allowed)
    if key not in _ready:
        rules = Rules()
        for name in dict.fromkeys((*COMMON_FORBIDDEN, *forbidden)):
            _add(rules, Rule(name, name in allowed))
        for name in allowed:  # also a name below a pattern: "torch.nn.TransformerEncoder"
            _add(rules, Rule(name, allowed=True))
        _ready[key] = rules
    return _ready[key]


def _add(rules: Rules, rule: Rule) -> None:
    parent_name, _, last = rule.name.rpartition(".")
    parent = _resolve(parent_name, rule.name)
    if last == "*":
        rules.packages.append((_folder(parent, rule.name), rule))
        return
    names = [name for name in vars(parent) if fnmatchcase(name, last)] or [last]
    targets = [getattr(parent, name, None) for name in names]  # of a class a static method, too
    for target in targets:
        if inspect.isclass(target) and issubclass(target, nn.Module):
            rules.codes[target.forward.__code__] = rule
        elif inspect.isfunction(target):
            rules.codes[target.__code__] = rule
        elif not callable(target):
            raise ValueError(f"no function of torch {torch.__version__} is called {rule.name}")
    if not rule.allowed:
        forms = [form.format(last) for form in _FORMS] if last.islower() else []
        rules.operators += [(pattern, rule.name) for pattern in _OPERATORS.get(rule.name, forms)]


def _resolve(dotted: str, name: str) -> Any:
    """Return the module or class that a dotted name means."""
    try:
        return importlib.import_module(dotted)
    except (ImportError, ValueError):  # a class, or nothing at all
        parent, _, last = dotted.rpartition(".")
        found = getattr(_resolve(parent, name), last, None) if parent else None
        if found is None:
            raise ValueError(f"no function of torch {torch.__version__} is called {name}") from None
        return found


def _folder(package: Any, name: str) -> str:
    if not isinstance(package, ModuleType) or package.__file__ is None:
        raise ValueError(f"{name} is not a package of torch {torch.__version__}")
    path = Path(package.__file__)
    return f"{path.parent}/" if path.name == "__init__.py" else str(path)
