"""Hidden cases of beam-search: scores that are equal, nearly so, or out of reach."""

import math

import pytest
import torch
from cases import NEVER, clear, normal, plain, searched

with_dtypes = pytest.mark.derive("dtype")


@plain
@pytest.mark.parametrize("eos", [0, 1, 2, 6])
def test_all_logits_are_equal(check, eos):
    """A model that knows nothing: of equal candidates the lowest id is kept, and wins."""
    check(check.step(torch.zeros(6, 7, 7, dtype=torch.float64)), bos=3, eos=eos, beam=2, max_len=4)
    check(check.step(torch.zeros(4, 50, 50, dtype=torch.float64)), bos=3, eos=eos, beam=2, max_len=2)


@plain
def test_equal_logits(check, rng):
    """Groups of tokens share a logit; the lowest ids of the group are kept."""
    for size in (6, 12, 40, 64, 100):
        table = torch.zeros(5, size, size, dtype=torch.float64)
        group = rng.permutation(size - 1)[: size // 2] + 1
        table[0, 0, group] = 2.0
        table[1, :, group] = 3.0
        check(check.step(table), bos=0, eos=0, beam=3, max_len=3)
    table = (torch.arange(600, dtype=torch.float64) % 7).expand(1, 600, 600)
    check(check.step(table), bos=0, eos=599, beam=2, max_len=1)


@plain
def test_equal_scores_of_two_hypotheses(check, rng):
    """Two hypotheses with one score go on in the same way: the one that is ahead stays ahead."""
    for _ in range(3):
        table = torch.zeros(5, 8, 8, dtype=torch.float64)
        low, high = sorted((rng.permutation(6)[:2] + 2).tolist())
        table[0, 1, [low, high]] = 6.0
        table[1, [low, high]] = (rng.permutation(8).double() - 6.0 * (table[0, 1] > 0)) * 2
        check(check.step(table), bos=1, eos=0, beam=2, max_len=2)
        check(check.step(table), bos=1, eos=0, beam=3, max_len=2)


@plain
def test_a_tie_with_a_finished_hypothesis(check):
    """One is finished, the other goes on without a doubt, so their scores stay equal: who is ahead stays ahead."""
    for eos, other in ((0, 1), (1, 0)):
        table = torch.zeros(6, 3, 3, dtype=torch.float64)
        table[0, 2, 2] = table[1, other, eos] = -math.inf
        check(check.step(table), bos=2, eos=eos, beam=2, max_len=4)


@plain
def test_equal_scores_from_unequal_parents(check):
    """Likely then unlikely, unlikely then likely: the same score, and the one whose parent was ahead is ahead."""

    def row(**logits):
        """Few tokens, to which the others add nothing, so that sums are the same bits in any order."""
        values = torch.full((20,), -200.0, dtype=torch.float64)
        for name, logit in logits.items():
            values[int(name[1:])] = logit
        return values

    first, last = row(t5=0.0, t2=-1.0), row(t7=0.0)
    likely, unlikely = row(t8=0.0, t9=-1.0), row(t1=0.0, t3=-1.0)
    table = torch.zeros(4, 20, 20, dtype=torch.float64)
    table[0, 4], table[1, 5], table[1, 2] = first, likely - first, unlikely - first
    table[2, 8], table[2, 9], table[2, 1] = -likely, last - likely, last - unlikely
    for beam in (3, 4, 9):
        check(check.step(table), bos=4, eos=0, beam=beam, max_len=3)


@plain
def test_large_and_negative_logits(check, rng):
    """Logits are no log-probabilities: any number may be added to all of them, another one for each prefix."""
    for shift in (0.0, 100.0, -110.0):

        def draw(shift=shift):
            table = normal(rng, 5, 6, 2) + 4 * rng.uniform(6, 5, 1)
            table[0] += shift
            return table.mul(1024).round() / 1024

        check(check.step(clear(draw, 3, 2, 2, 2, lowest=1.0)), bos=3, eos=2, beam=2, max_len=2)


@plain
def test_forbidden_tokens(check, rng):
    """Tokens that the model rules out with a logit of -inf; sometimes fewer are left than the beam holds."""

    def draw():
        table = normal(rng, 5, 6, 2)
        table[0, 3, [0, 1, 4]] = -math.inf
        return table

    table = draw()
    table[0, 3] = torch.tensor([0.5, 1.0, -math.inf, -math.inf, 1.7])
    table[0, 3] += normal(rng, 5, 1, 0)[0, 0] / 8
    check(check.step(table), bos=3, eos=2, beam=4, max_len=1)
    table = clear(draw, 3, 2, 2, 3)
    check(check.step(table), bos=3, eos=2, beam=2, max_len=3)


@with_dtypes
@pytest.mark.parametrize("beam", [2, 3])
def test_clear_scores(check, rng, beam):
    """Scores that no dtype can confuse."""

    def draw():
        return rng.integers(-4, 5, 5, 4, 4).double() / 4

    check(check.step(clear(draw, 0, 1, beam, 3, margin=0.15, lowest=1.5)), bos=0, eos=1, beam=beam, max_len=3)


@with_dtypes
def test_nearly_equal_scores(check, rng):
    """In float64 the higher id is ahead by a billionth, a difference that float32 does not have."""
    for beam in (1, 2):
        table = torch.zeros(4, 7, 7, dtype=torch.float64)
        low, high = sorted(rng.permutation(6)[:2].tolist())
        table[0, 6, low], table[0, 6, high] = 1.0, 1.0 + 2.0**-30
        table[1, [low, high], 5] = 3.0
        check(check.step(table), bos=6, eos=6, beam=beam, max_len=2)


@pytest.mark.derive("dtype")
def test_digits_of_double_precision(check, rng):
    """In float64 the score of twelve unlikely tokens has its digits: nothing is added to a probability."""
    double = check.dtype == torch.float64
    table = clear(lambda: normal(rng, 40, 14, 5, NEVER) / 40, 0, 5, 1, 12, margin=1e-5)
    found = check["beam_search"].run(check.step(table), bos=0, eos=5, beam=1, max_len=12).got
    want = searched(table, 0, 5, 1, 12)[0]
    score = found[1] if isinstance(found, tuple) and len(found) == 2 else math.nan
    off = abs(score - want)
    check.that(not double or off < 1e-10, f"the score is off by {off:.1e}: float64 has more digits")
