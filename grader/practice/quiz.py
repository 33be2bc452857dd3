"""Questions whose numbers are drawn and whose answers are computed, with the way to the result.

Each is held against an independent count in tests/practice/test_quiz.py: a real module's parameters, torch's counter of
FLOPs, the bytes of tensors.
"""

import ast
import operator
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from grader.language import _, marked

NEAR: Final = 0.01
"""So far off is right."""

Numbers = dict[str, int]

_PREFIXES: Final = {"": 0, "k": 1, "m": 2, "g": 3, "b": 3, "t": 4}
_NUMBER: Final = re.compile(
    r"([0-9][0-9_, ]*(?:\.[0-9]+)?|\.[0-9]+)(?:e\+?([0-9]+))? *([kmgbt]?)(i?)(?:b|bytes?|flops?)?"
)
_LONGEST: Final = 200
_LARGEST_POWER: Final = 64
_OPERATIONS: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul},
    **{ast.Div: operator.truediv, ast.Pow: operator.pow},
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A question with its numbers."""

    id: str
    given: Numbers
    text: str
    result: float
    way: str
    unit: str = ""

    def is_right(self, answer: str) -> bool:
        """Tell whether an answer is at most one part in a hundred off, in any of its readings."""
        return any(abs(value - self.result) <= NEAR * self.result for value in readings(answer))


@dataclass(frozen=True, slots=True)
class Generator:
    """How a question comes about: what its numbers are drawn from, what it asks, how it is answered."""

    id: str
    text: str
    draw: Callable[[random.Random], Numbers]
    result: Callable[[Numbers], float]
    way: str
    """The formula with letters, and with placeholders for numbers behind it."""
    unit: str = ""

    def drawn(self, draw: random.Random) -> Drawn:
        """Return the question with numbers."""
        given = self.draw(draw)
        result = self.result(given)
        way = f"{self.way.format(**given)} = {written(result)}"
        return Drawn(self.id, given, _(self.text).format(**given), result, way, self.unit)


def drawn(seed: int, count: int) -> list[Drawn]:
    """Draw so many questions, each kind once before any comes twice. The same seed gives the same."""
    draw = random.Random(seed)  # noqa: S311 - a quiz is no secret
    found: list[Drawn] = []
    while len(found) < count:
        kinds = list(GENERATORS)
        draw.shuffle(kinds)
        found += [kind.drawn(draw) for kind in kinds[: count - len(found)]]
    return found


def written(number: float) -> str:
    """Return a number as a person writes it."""
    if number == int(number):
        return f"{int(number):,}".replace(",", " ")
    return f"{number:,.1f}".replace(",", " ")


def readings(answer: str) -> list[float]:
    """Return what an answer may mean: `2.36M`, `512 KiB`, `2,362,368`, `4 * 768 * 768`; K may be 1000 or 1024."""
    found = _NUMBER.fullmatch(answer.strip().lower())
    if not found:
        return _computed(answer)
    digits, exponent, prefix, binary = found.groups()
    value = float(re.sub("[_, ]", "", digits)) * 10.0 ** int(exponent or 0)
    power = _PREFIXES[prefix]
    powers = {1024.0**power} if binary else {1000.0**power, 1024.0**power}
    return [value * factor for factor in sorted(powers)]


def _computed(answer: str) -> list[float]:
    """Return what a calculation of plain numbers gives, nothing where it is none."""
    text = answer.strip().replace("·", "*").replace("\N{MULTIPLICATION SIGN}", "*").replace("^", "**")
    try:
        return [_value(ast.parse(text, mode="eval").body)] if len(text) <= _LONGEST else []
    except (SyntaxError, ValueError, ArithmeticError, RecursionError):
        return []


def _value(node: ast.expr) -> float:
    """Compute an expression. Raises ValueError where it has anything in it but numbers."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return float(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        left, right = _value(node.left), _value(node.right)
        if not (isinstance(node.op, ast.Pow) and (abs(right) > _LARGEST_POWER or left <= 0)):
            return _OPERATIONS[type(node.op)](left, right)
    raise ValueError(ast.dump(node))


def _of(draw: random.Random, *values: int) -> int:
    return draw.choice(values)


def _width(draw: random.Random) -> Numbers:
    return {"d": _of(draw, 256, 512, 768, 1024, 2048, 4096)}


def _heads(draw: random.Random) -> Numbers:
    d_head = _of(draw, 64, 128)
    heads = _of(draw, 8, 16, 32)
    return {"H": heads, "dh": d_head, "d": heads * d_head, "G": _of(draw, 1, 2, 4, 8)}


def _model(draw: random.Random) -> Numbers:
    return {**_heads(draw), "L": _of(draw, 12, 24, 32, 80), "w": _of(draw, 1, 2, 4), "T": 1024 * _of(draw, 1, 4, 8, 32)}


def _block(draw: random.Random) -> Numbers:
    d = _of(draw, 256, 512, 768, 1024)
    return {"d": d, "f": 4 * d}


def _gpt(draw: random.Random) -> Numbers:
    return {**_block(draw), "V": _of(draw, 32000, 50257), "T": _of(draw, 512, 1024, 2048), "L": _of(draw, 6, 12, 24)}


def _square(draw: random.Random) -> Numbers:
    return {**_heads(draw), "B": _of(draw, 1, 2, 8), "n": _of(draw, 512, 1024, 2048), "w": _of(draw, 2, 4)}


def _card(draw: random.Random) -> Numbers:
    return {"P": _of(draw, 1, 3, 7, 8, 13, 70), "w": _of(draw, 1, 2), "bw": _of(draw, 900, 2000, 3350, 4800)}


def _encoder(g: Numbers) -> int:
    d, f = g["d"], g["f"]
    return 4 * d * d + 4 * d + 2 * d * f + d + f + 4 * d


GENERATORS: Final = (
    Generator(
        "linear",
        marked("How many parameters has nn.Linear({a}, {b}), with its bias?"),
        lambda draw: {"a": _of(draw, 128, 512, 768, 4096), "b": _of(draw, 64, 256, 1024, 11008)},
        lambda g: g["a"] * g["b"] + g["b"],
        "a·b + b = {a}·{b} + {b}",
    ),
    Generator(
        "mha",
        marked("How many parameters has multi-head attention with d_model = {d}, four projections with biases?"),
        _width,
        lambda g: 4 * g["d"] ** 2 + 4 * g["d"],
        "4·d² + 4·d = 4·{d}² + 4·{d}",
    ),
    Generator(
        "gqa",
        marked(
            "How many parameters has grouped-query attention without biases: d_model = {d}, {H} heads for queries and "
            "{G} for keys and values?"
        ),
        _heads,
        lambda g: 2 * g["d"] ** 2 + 2 * g["d"] * g["G"] * g["dh"],
        "2·d² + 2·d·G·d_head = 2·{d}² + 2·{d}·{G}·{dh}",
    ),
    Generator(
        "ffn",
        marked("How many parameters has a feed-forward network {d} → {f} → {d}, with biases?"),
        _block,
        lambda g: 2 * g["d"] * g["f"] + g["d"] + g["f"],
        "2·d·f + f + d = 2·{d}·{f} + {f} + {d}",
    ),
    Generator(
        "swiglu",
        marked("How many parameters has a SwiGLU network without biases: d_model = {d}, hidden width {f}?"),
        lambda draw: {"d": _of(draw, 1024, 2048, 4096), "f": _of(draw, 2816, 5632, 11008)},
        lambda g: 3 * g["d"] * g["f"],
        "3·d·f = 3·{d}·{f}",
    ),
    Generator(
        "lora",
        marked("How many parameters does LoRA of rank {r} train beside a matrix of {a} by {b}?"),
        lambda draw: {"r": _of(draw, 4, 8, 16, 64), "a": _of(draw, 1024, 4096), "b": _of(draw, 1024, 4096, 11008)},
        lambda g: g["r"] * (g["a"] + g["b"]),
        "r·(a + b) = {r}·({a} + {b})",
    ),
    Generator(
        "embeddings",
        marked("How many parameters have the embeddings of {V} tokens and {T} learned positions, {d} wide?"),
        _gpt,
        lambda g: (g["V"] + g["T"]) * g["d"],
        "(V + T)·d = ({V} + {T})·{d}",
    ),
    Generator(
        "encoder-block",
        marked(
            "How many parameters has an encoder block: d_model = {d}, hidden width {f}, biases everywhere, two layer "
            "norms?"
        ),
        _block,
        _encoder,
        "(4·d² + 4·d) + (2·d·f + f + d) + 2·2·d, d = {d}, f = {f}",
    ),
    Generator(
        "decoder-block",
        marked(
            "How many parameters has a decoder block with cross-attention: d_model = {d}, hidden width {f}, biases "
            "everywhere, three layer norms?"
        ),
        _block,
        lambda g: _encoder(g) + 4 * g["d"] ** 2 + 4 * g["d"] + 2 * g["d"],
        "2·(4·d² + 4·d) + (2·d·f + f + d) + 3·2·d, d = {d}, f = {f}",
    ),
    Generator(
        "gpt",
        marked(
            "How many parameters has a GPT: {L} blocks, d_model = {d}, hidden width {f}, biases everywhere, "
            "{V} tokens, {T} learned positions, a last layer norm, the output tied to the embedding?"
        ),
        _gpt,
        lambda g: (g["V"] + g["T"]) * g["d"] + g["L"] * _encoder(g) + 2 * g["d"],
        "(V + T)·d + L·(4·d² + 4·d + 2·d·f + f + d + 4·d) + 2·d, V = {V}, T = {T}, d = {d}, f = {f}, L = {L}",
    ),
    Generator(
        "cache-mha",
        marked(
            "How many bytes does the KV cache of one token take: {L} layers, {H} heads of width {dh}, {w}-byte numbers?"
        ),
        _model,
        lambda g: 2 * g["L"] * g["H"] * g["dh"] * g["w"],
        "2·L·H·d_head·w = 2·{L}·{H}·{dh}·{w}",
        marked("bytes"),
    ),
    Generator(
        "cache-gqa",
        marked(
            "How many bytes does the KV cache of {T} tokens take with grouped queries: {L} layers, {H} heads "
            "for queries and {G} for keys and values, of width {dh}, {w}-byte numbers?"
        ),
        _model,
        lambda g: 2 * g["L"] * g["G"] * g["dh"] * g["T"] * g["w"],
        "2·L·G·d_head·T·w = 2·{L}·{G}·{dh}·{T}·{w}",
        marked("bytes"),
    ),
    Generator(
        "cache-mla",
        marked(
            "How many bytes does the cache of {T} tokens take with latent attention (MLA): {L} layers, a latent of "
            "width {c} and a rotary key of width {r}, {w}-byte numbers?"
        ),
        lambda draw: {**_model(draw), "c": _of(draw, 256, 512), "r": _of(draw, 32, 64)},
        lambda g: g["L"] * (g["c"] + g["r"]) * g["T"] * g["w"],
        "L·(c + r)·T·w = {L}·({c} + {r})·{T}·{w}",
        marked("bytes"),
    ),
    Generator(
        "cache-window",
        marked(
            "A rolling cache keeps the last {W} of {T} tokens: how many bytes, with {L} layers, {H} heads for "
            "queries and {G} for keys and values, of width {dh}, {w}-byte numbers?"
        ),
        lambda draw: {**_model(draw), "T": 1024 * _of(draw, 16, 32), "W": 1024 * _of(draw, 1, 2, 4)},
        lambda g: 2 * g["L"] * g["G"] * g["dh"] * g["W"] * g["w"],
        "2·L·G·d_head·W·w = 2·{L}·{G}·{dh}·{W}·{w}",
        marked("bytes"),
    ),
    Generator(
        "weights-bytes",
        marked(
            "How many bytes do the attention weights of one layer take, written out: batch {B}, {H} heads, "
            "{n} queries, {n} keys, {w}-byte numbers?"
        ),
        _square,
        lambda g: g["B"] * g["H"] * g["n"] ** 2 * g["w"],
        "B·H·n²·w = {B}·{H}·{n}²·{w}",
        marked("bytes"),
    ),
    Generator(
        "additive-bytes",
        marked(
            "Additive attention adds every query to every key before the tanh: how many bytes, with batch {B}, {n} "
            "queries, {n} keys, a hidden width of {h} and float32?"
        ),
        lambda draw: {"B": _of(draw, 1, 2, 8), "n": _of(draw, 256, 512, 1024), "h": _of(draw, 128, 256, 512)},
        lambda g: g["B"] * g["n"] ** 2 * g["h"] * 4,
        "B·n²·h·4 = {B}·{n}²·{h}·4",
        marked("bytes"),
    ),
    Generator(
        "flops-scores",
        marked(
            "How many FLOPs do the scores q·kᵀ take (a multiply-add is two): batch {B}, {H} heads of width {dh}, {n} "
            "queries, {n} keys?"
        ),
        _square,
        lambda g: 2 * g["B"] * g["H"] * g["n"] ** 2 * g["dh"],
        "2·B·H·n²·d_head = 2·{B}·{H}·{n}²·{dh}",
    ),
    Generator(
        "flops-mha",
        marked(
            "How many FLOPs does multi-head attention take in its matrix products (a multiply-add is two): one "
            "sequence of {n} tokens, d_model = {d}, no mask?"
        ),
        lambda draw: {"n": _of(draw, 128, 512, 1024), "d": _of(draw, 256, 512, 1024)},
        lambda g: 8 * g["n"] * g["d"] ** 2 + 4 * g["n"] ** 2 * g["d"],
        "8·n·d² + 4·n²·d = 8·{n}·{d}² + 4·{n}²·{d}",
    ),
    Generator(
        "flops-ffn",
        marked(
            "How many FLOPs does a feed-forward network {d} → {f} → {d} take for {n} tokens (a multiply-add is two)?"
        ),
        lambda draw: {**_block(draw), "n": _of(draw, 128, 512, 1024)},
        lambda g: 4 * g["n"] * g["d"] * g["f"],
        "2·2·n·d·f = 4·{n}·{d}·{f}",
    ),
    Generator(
        "adam-bytes",
        marked(
            "How many bytes do weights, gradients and Adam's two moments take, all in float32, for a feed-forward "
            "network {d} → {f} → {d} with biases?"
        ),
        _block,
        lambda g: 16 * (2 * g["d"] * g["f"] + g["d"] + g["f"]),
        "16·(2·d·f + f + d) = 16·(2·{d}·{f} + {f} + {d})",
        marked("bytes"),
    ),
    Generator(
        "tokens-a-second",
        marked(
            "A model of {P} billion {w}-byte parameters writes one sequence. Memory is read at {bw} GB/s, and "
            "nothing else takes time: how many tokens a second at most?"
        ),
        _card,
        lambda g: g["bw"] / (g["P"] * g["w"]),
        "{bw} GB/s / ({P} GB · {w})",
        marked("tokens a second"),
    ),
    Generator(
        "tokens-with-cache",
        marked(
            "{U} users share a card that reads {bw} GB/s. The weights take {P} · {w} GB, the cache of each user "
            "{c} GB, and every step reads all of it: how many tokens a second at most, all users together?"
        ),
        lambda draw: {**_card(draw), "U": _of(draw, 2, 8, 32), "c": _of(draw, 1, 2)},
        lambda g: g["U"] * g["bw"] / (g["P"] * g["w"] + g["U"] * g["c"]),
        "U·bw / (P·w + U·c) = {U}·{bw} / ({P}·{w} + {U}·{c})",
        marked("tokens a second"),
    ),
)
