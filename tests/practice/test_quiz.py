"""Drawn and computed questions, each held against an independent count."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from grader.practice import quiz
from grader.practice.quiz import GENERATORS, Drawn, Numbers, readings

DTYPES = {1: torch.int8, 2: torch.bfloat16, 4: torch.float32}


def parameters(*modules: nn.Module) -> int:
    """Count the parameters of modules, tied ones once."""
    return sum(one.numel() for one in nn.ModuleList(modules).parameters())


def size(*shape: int, w: int = 4) -> int:
    """Count the bytes of a tensor."""
    tensor = torch.empty(shape, dtype=DTYPES[w])
    return tensor.nbytes


def cache(g: Numbers, heads: int, length: int) -> int:
    """Count the bytes of keys and values in all layers."""
    layer = torch.empty((2, heads, length, g["dh"]), dtype=DTYPES[g["w"]])
    return sum(layer.nbytes for _ in range(g["L"]))


def flops(module: Callable[..., object], *tensors: torch.Tensor) -> int:
    """Let torch count."""
    with FlopCounterMode(display=False) as counter:
        module(*tensors)
    return counter.get_total_flops()


def ffn(g: Numbers) -> nn.Module:
    """Return a feed-forward network."""
    return nn.Sequential(nn.Linear(g["d"], g["f"]), nn.ReLU(), nn.Linear(g["f"], g["d"]))


def encoder(g: Numbers) -> nn.Module:
    """Return torch's own block."""
    return nn.TransformerEncoderLayer(g["d"], 4, g["f"])


def attention(g: Numbers) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return attention whose products torch can count."""
    layers = [nn.Linear(g["d"], g["d"], bias=False) for _ in range(4)]

    def forward(x: torch.Tensor) -> torch.Tensor:
        q, k, v = (layer(x) for layer in layers[:3])
        return layers[3](torch.softmax(q @ k.mT, -1) @ v)

    return forward


def gpt(g: Numbers) -> int:
    """Count a whole model whose output is its embedding."""
    tokens = nn.Embedding(g["V"], g["d"])
    output = nn.Linear(g["d"], g["V"], bias=False)
    output.weight = tokens.weight
    blocks = [encoder(g) for _ in range(g["L"])]
    return parameters(tokens, nn.Embedding(g["T"], g["d"]), *blocks, nn.LayerNorm(g["d"]), output)


def trained(g: Numbers) -> int:
    """Count the bytes of weights, gradients and moments after a step of Adam."""
    model = ffn(g)
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    for one in model.parameters():
        one.grad = torch.zeros_like(one)
    optimizer.step()
    moments = [state[name] for state in optimizer.state.values() for name in ("exp_avg", "exp_avg_sq")]
    return sum(one.nbytes + one.grad.nbytes for one in model.parameters()) + sum(one.nbytes for one in moments)


def simulated(g: Numbers) -> float:
    """Read everything that a step needs, a gigabyte at a time, and count steps."""
    gigabytes = g["P"] * g["w"] + g.get("U", 1) * g.get("c", 0)
    seconds = sum(1 / g["bw"] for _ in range(gigabytes))
    return g.get("U", 1) / seconds


def grouped(g: Numbers) -> int:
    """Count the four projections."""
    d, inner = g["d"], g["G"] * g["dh"]
    projections = ((d, d), (d, inner), (d, inner), (d, d))
    return parameters(*(nn.Linear(*sizes, bias=False) for sizes in projections))


COUNTED: dict[str, Callable[[Numbers], float]] = {
    "linear": lambda g: parameters(nn.Linear(g["a"], g["b"])),
    "mha": lambda g: parameters(nn.MultiheadAttention(g["d"], 4)),
    "gqa": grouped,
    "ffn": lambda g: parameters(ffn(g)),
    "swiglu": lambda g: parameters(*(nn.Linear(*s, bias=False) for s in ((g["d"], g["f"]),) * 2 + ((g["f"], g["d"]),))),
    "lora": lambda g: parameters(nn.Linear(g["a"], g["r"], bias=False), nn.Linear(g["r"], g["b"], bias=False)),
    "embeddings": lambda g: parameters(nn.Embedding(g["V"], g["d"]), nn.Embedding(g["T"], g["d"])),
    "encoder-block": lambda g: parameters(encoder(g)),
    "decoder-block": lambda g: parameters(nn.TransformerDecoderLayer(g["d"], 4, g["f"])),
    "gpt": gpt,
    "cache-mha": lambda g: cache(g, g["H"], 1),
    "cache-gqa": lambda g: cache(g, g["G"], g["T"]),
    "cache-mla": lambda g: sum(size(g["T"], g["c"], w=g["w"]) + size(g["T"], g["r"], w=g["w"]) for _ in range(g["L"])),
    "cache-window": lambda g: cache(g, g["G"], min(g["W"], g["T"])),
    "weights-bytes": lambda g: size(g["B"], g["H"], g["n"], g["n"], w=g["w"]),
    "additive-bytes": lambda g: size(g["B"], g["n"], g["n"], g["h"]),
    "flops-scores": lambda g: flops(
        lambda q: q @ q.mT, torch.empty(g["B"], g["H"], g["n"], g["dh"], dtype=torch.bfloat16)
    ),
    "flops-mha": lambda g: flops(attention(g), torch.empty(1, g["n"], g["d"])),
    "flops-ffn": lambda g: flops(ffn(g), torch.empty(g["n"], g["d"])),
    "adam-bytes": trained,
    "tokens-a-second": simulated,
    "tokens-with-cache": simulated,
}
"""By the kind of the question, on the meta device: sizes are real, nothing is computed."""


def test_there_are_enough():
    """And each is held against a count."""
    assert len(GENERATORS) >= 15
    assert [one.id for one in GENERATORS] == list(COUNTED)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", GENERATORS, ids=lambda kind: kind.id)
def test_the_result_is_what_is_counted(kind, seed):
    """With other numbers each time."""
    question = kind.drawn(random.Random(seed))
    with torch.device("meta"), torch.no_grad():
        assert COUNTED[kind.id](question.given) == pytest.approx(question.result, rel=1e-9)
    assert question.way.endswith(f"= {quiz.written(question.result)}")
    assert "{" not in question.text + question.way


def test_no_question_counts_one_of_many():
    """Whatever is drawn: no "1 bytes", no "1 heads"."""
    texts = [question.text for seed in range(40) for question in quiz.drawn(seed, len(GENERATORS))]
    assert not [text for text in texts if re.search(r"\b1 (?!for )[a-z ]+s\b", text)]


def test_equal_seeds_ask_the_same():
    """And no kind comes twice before all have come."""
    one, other = quiz.drawn(7, 30), quiz.drawn(7, 30)
    assert one == other
    assert len({question.id for question in one[: len(GENERATORS)]}) == len(GENERATORS)
    assert quiz.drawn(8, 5) != one[:5]


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        ("2362368", [2362368.0]),
        ("2,362,368", [2362368.0]),
        ("2 362 368", [2362368.0]),
        ("2.4e6", [2.4e6]),
        ("512 KiB", [524288.0]),
        ("512k", [512000.0, 524288.0]),
        ("7b", [7e9, 7 * 1024.0**3]),
        ("1.5 GB", [1.5e9, 1.5 * 1024**3]),
        (".5t", [0.5e12, 0.5 * 1024.0**4]),
        ("much", []),
        ("", []),
        ("-3", []),
        ("1.2.3", []),
        ("4*768*768 + 4*768", [2362368.0]),
        ("2 · 12 \N{MULTIPLICATION SIGN} 64^2", [98304.0]),
        ("(70 + 1) / 2", [35.5]),
        ("9**9**9", []),
        ("1/0", []),
        ("2 * d", []),
        ("__import__('os')", []),
        ("(" * 150 + "1" + ")" * 150, []),
    ],
)
def test_what_an_answer_may_mean(answer, meant):
    """Numbers as people type them."""
    assert readings(answer) == pytest.approx(meant)


def test_one_percent_off_is_right():
    """And two are not."""
    question = Drawn("x", {}, "", 1000.0, "")
    assert question.is_right("1010")
    assert question.is_right("990")
    assert not question.is_right("1020")
    assert not question.is_right("")
