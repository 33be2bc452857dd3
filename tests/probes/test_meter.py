"""Costs are counted, the same everywhere, and separate right from wrong."""
# ruff: noqa: D102, D103 - the name of a measured function says what it is

from __future__ import annotations

import inspect
import json
import math

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from grader.probes.meter import exponent, measure

B, H, D = 1, 2, 16
SIZES = (32, 64, 128)


@pytest.fixture(autouse=True)
def one_thread():
    """Leave the other cores alone: counts do not depend on threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def count(function, *args):
    """Return the cost of a call."""
    with torch.no_grad(), measure(__file__, args, function) as cost:
        result = function(*args)
    del result
    return cost


def slopes(function):
    """Return the exponents of a function of queries, keys and values in the length of the sequence."""
    costs = [count(function, *(torch.randn(B, H, n, D) for _ in range(3))) for n in SIZES]
    return {
        "work": exponent(SIZES, [cost.madds + cost.elems for cost in costs]),
        "biggest": exponent(SIZES, [cost.biggest for cost in costs]),
        "calls": exponent(SIZES, [cost.calls for cost in costs]),
        "peak": exponent(SIZES, [cost.peak for cost in costs]),
    }


def naive(q, k, v):
    return (q @ k.mT / D**0.5).softmax(-1) @ v


def by_broadcasting(q, k, v):
    return (q[:, :, :, None] * k[:, :, None]).sum(-1).softmax(-1) @ v


def online(q, k, v):
    top, total, out = q.new_full((*q.shape[:3], 1), -torch.inf), q.new_zeros(*q.shape[:3], 1), torch.zeros_like(q)
    for j in range(0, k.shape[2], 16):
        scores = q @ k[:, :, j : j + 16].mT / D**0.5
        new = torch.maximum(top, scores.amax(-1, keepdim=True))
        p, scale = (scores - new).exp(), (top - new).exp()
        total, out, top = total * scale + p.sum(-1, keepdim=True), out * scale + p @ v[:, :, j : j + 16], new
    return out / total


def online_with_a_full_mask(q, k, v):
    mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril()
    return online(q, k, v) * mask[:, :1]


def online_after_all_scores(q, k, v):
    (q @ k.mT).amax()
    return online(q, k, v)


def fused(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def over_tokens(q, k, v):
    return torch.cat([naive(q[:, :, i : i + 1], k, v) for i in range(q.shape[2])], 2)  # one at a time


def over_heads(q, k, v):
    return torch.stack([naive(q[:, h], k[:, h], v[:, h]) for h in range(H)], 1)


def linear(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    return q @ (k.mT @ v) / (q @ k.sum(2, keepdim=True).mT)


def linear_by_all_scores(q, k, v):
    scores = ((F.elu(q) + 1) @ (F.elu(k) + 1).mT).tril()
    return scores @ v / scores.sum(-1, keepdim=True)


def linear_with_prefix_sums_anew(q, k, v):
    state = torch.einsum("bhnd,bhne->bhnde", k, v).cumsum(2)
    norms = torch.stack([k[:, :, : t + 1].sum(2) for t in range(k.shape[2])], 2)
    return torch.einsum("bhnd,bhnde->bhne", q, state) / (q * norms).sum(-1, keepdim=True)


def window(q, k, v):
    k, v = (F.pad(t, (0, 0, 7, 0)).unfold(2, 8, 1) for t in (k, v))
    return torch.einsum("bhnw,bhndw->bhnd", torch.einsum("bhnd,bhndw->bhnw", q, k).softmax(-1), v)


def window_in_a_full_matrix(q, k, v):
    i = torch.arange(q.shape[2])
    distance = i[:, None] - i
    return (q @ k.mT).masked_fill((distance < 0) | (distance >= 8), -torch.inf).softmax(-1) @ v


@pytest.mark.parametrize("function", [online, fused])
def test_no_score_matrix(function):
    """What keeps no n x n tensor grows linearly in its largest one."""
    assert slopes(function)["biggest"] == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(
    "function", [naive, by_broadcasting, online_with_a_full_mask, online_after_all_scores, over_heads]
)
def test_a_score_matrix(function):
    """A score matrix is seen in any form: per head, of bools, by broadcasting, or computed and thrown away."""
    assert slopes(function)["biggest"] == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("function", [linear, window])
def test_linear_work(function):
    """What is linear in the sequence grows with exponent one."""
    assert slopes(function)["work"] == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("function", [linear_by_all_scores, window_in_a_full_matrix, naive, by_broadcasting, fused])
def test_quadratic_work(function):
    """Quadratic work is seen as such, also without any matrix product and in a fused kernel."""
    assert slopes(function)["work"] > 1.8


def test_sums_that_are_taken_anew_are_quadratic():
    """A reduction is charged for what it reads: prefix sums by slices write little and read n^2."""

    def growth(function):
        costs = [count(function, *(torch.randn(B, H, n, D) for _ in range(3))) for n in (256, 512)]
        return costs[1].elems / costs[0].elems

    assert growth(linear_with_prefix_sums_anew) > 2.3
    assert growth(linear) < 2.05


def test_a_loop_over_tokens_is_named_with_its_line():
    """Calls grow with the sequence, and most of them come from one line; a loop over heads does not grow."""
    assert slopes(over_heads)["calls"] == pytest.approx(0.0, abs=0.01)
    assert slopes(over_tokens)["calls"] == pytest.approx(1.0, abs=0.1)
    cost = count(over_tokens, *(torch.randn(B, H, 64, D) for _ in range(3)))
    assert cost.lines.most_common(1)[0][1] >= 4 * 64
    line = cost.lines.most_common(1)[0][0]
    assert "softmax" in inspect.getsource(naive).splitlines()[line - naive.__code__.co_firstlineno]


class Decoder(nn.Module):
    """One decoding step of 64 features in four heads."""

    def __init__(self, *, anew):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(64, 64) for _ in range(4))
        self.anew = anew

    def forward(self, x, prefix, keys, values):
        if self.anew:
            keys, values = self.k(prefix), self.v(prefix)
        keys = torch.cat([keys, self.k(x)], 1).view(1, -1, 4, 16).transpose(1, 2)
        values = torch.cat([values, self.v(x)], 1).view(1, -1, 4, 16).transpose(1, 2)
        queries = self.q(x).view(1, -1, 4, 16).transpose(1, 2)
        return self.o(((queries @ keys.mT).softmax(-1) @ values).transpose(1, 2).flatten(2))


@pytest.mark.parametrize(("anew", "least", "most"), [(False, 1.0, 1.0), (True, 20.0, 60.0)])
def test_a_decoding_step_against_its_formula(anew, least, most):
    """A step costs 4 d^2 + 2 T d multiply-adds; projecting the prefix again costs tens of times that."""
    prefix = torch.randn(1, 256, 64)
    cost = count(Decoder(anew=anew), torch.randn(1, 1, 64), prefix, prefix, prefix)
    assert least <= cost.madds / (4 * 64**2 + 2 * 257 * 64) <= most


@pytest.mark.parametrize(
    ("function", "shapes", "madds"),
    [
        (torch.mm, [(3, 5), (5, 7)], 3 * 5 * 7),
        (torch.matmul, [(2, 3, 5), (5, 7)], 2 * 3 * 5 * 7),
        (torch.bmm, [(2, 3, 5), (2, 5, 7)], 2 * 3 * 5 * 7),
        (torch.mv, [(3, 5), (5,)], 15),
        (torch.dot, [(5,), (5,)], 5),
        (F.linear, [(2, 3, 5), (7, 5)], 2 * 3 * 5 * 7),
        (lambda a, b: torch.einsum("bij,bkj->bik", a, b), [(2, 3, 5), (2, 7, 5)], 2 * 3 * 5 * 7),
        (lambda a, b: torch.baddbmm(torch.zeros(1), a, b), [(2, 3, 5), (2, 5, 7)], 2 * 3 * 5 * 7),
        (torch.cdist, [(4, 5), (6, 5)], 4 * 5 * 6),
        (F.conv1d, [(2, 3, 8), (4, 3, 3)], 2 * 4 * 6 * 9),
        (lambda q, k: F.scaled_dot_product_attention(q, k, k), [(2, 3, 8), (2, 5, 8)], 2 * 3 * 5 * 16),
    ],
)
def test_multiply_adds(function, shapes, madds):
    """Contractions are counted by their formula, whatever they are called and also in inference mode."""
    args = [torch.randn(*shape) for shape in shapes]
    assert count(function, *args).madds == madds
    with torch.inference_mode(), measure(__file__, args) as cost:
        function(*args)
    assert cost.madds == madds


def test_torch_modules_cost_the_same_on_both_paths():
    """The fused kernels of evaluation mode are charged what the decomposed ones of training are."""
    x = torch.randn(2, 8, 16)
    for module in (
        nn.MultiheadAttention(16, 2, batch_first=True),
        nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True),
    ):
        args = (x, x, x) if isinstance(module, nn.MultiheadAttention) else (x,)
        assert count(module.train(), *args).madds == count(module.eval(), *args).madds > 0


def test_peak_is_exact_and_forgets_what_was_freed():
    """Bytes are counted while they live; what was handed in and views of it cost nothing."""

    def steps(x):
        for _ in range(5):
            y = x + 1  # 4000 bytes, one at a time but for the moment in which the old one still lives
            del y
        return x[10:].view(-1)

    cost = count(steps, torch.zeros(1000))
    assert (cost.peak, cost.live, cost.biggest) == (4000, 0, 1000)
    with measure(__file__) as cost:
        kept = [torch.zeros(1000, dtype=torch.float64) for _ in range(10)]
    assert cost.peak == cost.live == 80_000
    del kept
    assert cost.live == 0


def test_writes_into_what_was_there_are_no_new_tensors():
    """A cache that is written in place neither counts as the largest new tensor nor as memory."""
    cache, new = torch.zeros(1000, 8), torch.ones(1, 8)

    def write(cache, new):
        cache[5:6] = new
        cache.index_copy_(0, torch.tensor([7]), new)
        cache[torch.tensor([9])] = new
        return cache[:10]

    for existing in ((cache, new, write), (new,)):  # also where the cache was not announced
        with measure(__file__, *existing) as cost:
            write(cache, new)
        assert cost.biggest <= 1
        assert cost.peak <= 16
        assert cost.elems <= 40


def test_growth_of_a_given_tensor_is_new_memory():
    """out= and resize_ cannot hide an allocation."""
    a = torch.ones(30, 30)
    with measure(__file__, a) as cost:
        out = torch.mm(a, a, out=torch.empty(0))
    assert (cost.biggest, cost.peak) == (900, 3600)
    del out
    assert cost.live == 0
    with measure(__file__, a) as cost:
        a.resize_(40, 40)
    assert (cost.biggest, cost.peak) == (1600, 2800)


def test_the_largest_tensor_has_a_name_shape_and_line():
    """The report says which operator made the largest tensor, and where."""

    def outer(x):
        return x[:, None] > x  # here

    cost = count(outer, torch.arange(50))
    facts = cost.as_dict()
    first = outer.__code__.co_firstlineno
    assert (facts["biggest"], facts["biggest_shape"], facts["biggest_line"]) == (2500, [50, 50], first + 1)
    assert facts["biggest_op"] == "gt"
    assert facts["lines"] == [[first + 1, 1]]
    assert json.loads(json.dumps(facts)) == facts


def test_lines_belong_to_the_file_that_was_asked_for():
    """Calls below another file's frames are counted without a line."""
    with measure("another.py") as cost:
        torch.ones(2) + 1
    assert cost.calls == 2
    assert cost.as_dict()["lines"] == []


def test_counts_are_the_same_each_time():
    """Nothing is timed: two runs agree to the last element."""
    q = torch.randn(B, H, 40, D)
    assert count(online, q, q, q).as_dict() == count(online, q, q, q).as_dict()


def test_values_are_untouched():
    """What is counted computes what it computes otherwise, with gradients."""
    q = torch.randn(B, H, 20, D, requires_grad=True)
    want = torch.autograd.grad(online(q, q, q).square().sum(), q)[0]
    with measure(__file__, q):
        got = torch.autograd.grad(online(q, q, q).square().sum(), q)[0]
    assert torch.equal(got, want)


def test_exponent():
    """Powers come out as their exponents; too few points are refused."""
    assert exponent([8, 16, 32], [3 * n**2 for n in (8, 16, 32)]) == pytest.approx(2.0)
    assert exponent([8, 16], [5, 5]) == 0.0
    assert exponent([2, 4, 8], [0, 0, 0]) == 0.0
    assert math.isclose(exponent([1, 2, 4, 8], [1, 2, 4, 8]), 1.0)
    with pytest.raises(ValueError, match="slope"):
        exponent([4], [4])
    with pytest.raises(ValueError, match="slope"):
        exponent([4, 4], [4, 8])
