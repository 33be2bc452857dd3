"""Hidden cases of alibi."""

import pytest
import torch

from grader.kit.defaults import before_a_default_device
from grader.kit.inference import inference_mode


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    check["alibi_bias"](2, n=2, m=3)


@pytest.mark.parametrize("n_heads", [8, 4, 2, 16, 32])
def test_slopes_of_a_power_of_two(check, n_heads):
    """A geometric sequence that starts with its own ratio and ends with 2^-8."""
    check["alibi_slopes"](n_heads)


def test_slope_of_a_single_head(check):
    """One head is a power of two as well."""
    check["alibi_slopes"](1)


@pytest.mark.parametrize("n_heads", [3, 5, 6, 7])
def test_slopes_of_few_heads(check, n_heads):
    """No power of two: what is missing comes from the next one."""
    check["alibi_slopes"](n_heads)


@pytest.mark.parametrize("n_heads", [12, 14, 20, 25, 40, 112])
def test_slopes_of_many_heads(check, n_heads):
    """Head counts of real models."""
    check["alibi_slopes"](n_heads=n_heads)


def test_bias_of_two_heads(check):
    """Three tokens: 0 on the diagonal, the penalty grows to both sides."""
    check["alibi_bias"](2, 3)


def test_more_heads_than_tokens(check):
    """Each head has its own slope."""
    check["alibi_bias"](8, 4)


def test_heads_that_are_no_power_of_two(check):
    """The biases use the slopes of the other function."""
    check["alibi_bias"](6, 4)
    check["alibi_bias"](3, 2, 5)


def test_all_sizes_are_equal(check):
    """H == n == m, where a wrong axis does not show in the shape."""
    check["alibi_bias"](4, 4)
    check["alibi_bias"](5, 5, 5)


@pytest.mark.parametrize(("n", "m"), [(2, 5), (3, 4), (5, 9), (4, 7)])
def test_chunk_behind_a_prefix(check, n, m):
    """With n < m the queries are the last n of m positions."""
    check["alibi_bias"](4, n, m)


@pytest.mark.parametrize("m", [2, 6])
def test_decode_step(check, m):
    """One query, the last of m positions: the penalty falls to 0 at the last key."""
    check["alibi_bias"](4, 1, m)


def test_sizes_of_one(check):
    """A single head, a single token."""
    check["alibi_bias"](1, 1)
    check["alibi_bias"](1, 3)
    check["alibi_bias"](3, 1, 1)


def test_settings_by_keyword(check):
    """The names of the arguments are part of the contract; n = m may be said twice."""
    check["alibi_bias"](n_heads=4, n=3, m=3, device=None)
    check["alibi_bias"](n_heads=2, n=3, m=None)


def test_long_context(check):
    """The last query of 3000 positions: distances are exact, however large."""
    check["alibi_bias"](2, 1, 3000)
    check["alibi_bias"](3, 2, 1500)


@pytest.mark.derive("device", "contract")
def test_no_device_is_the_default_one(check):
    """`None` leaves it to PyTorch: where a caller has set a default device, the biases are made there."""
    with before_a_default_device(check):
        check["alibi_bias"](10, 4, device=None)
    check["alibi_bias"](10, 4, device=None)
    check["alibi_bias"](6, 2, 4, device=None)


@pytest.mark.derive("device", "contract")
def test_made_on_the_device_asked_for(check):
    """`device` says where the biases are made, also behind the same ones elsewhere; it is the fourth argument."""
    with before_a_default_device(check):
        check["alibi_bias"](10, 3)
    check["alibi_bias"](10, 3, device=check.device)
    check["alibi_bias"](6, 2, 4, check.device)


@pytest.mark.contract
def test_slopes_serve_again(check):
    """The slopes are the same before and after biases were made, and the biases the second time."""
    before = check["alibi_slopes"](6)
    first = check["alibi_bias"](6, 2, 3)
    second = check["alibi_bias"](6, 2, 3)
    after = check["alibi_slopes"](6)
    check.same(second, first, "the same call gives another result the second time")
    check.same(after, before, "the slopes are others after biases have been made")


@pytest.mark.derive
def test_scores_lose_more_from_key_to_key(check):
    """The last query of a causal chunk: each step back costs one slope more."""
    slopes, bias = check["alibi_slopes"](5).got, check["alibi_bias"](5, 2, 6).got
    steps = bias[:, -1, 1:] - bias[:, -1, :-1]
    check.that((steps - slopes[:, None]).abs().max() < 1e-6, "from key to key the bias does not change by the slope")
    check.that(torch.equal(bias[:, 0, 4], torch.zeros(5)), "the bias of a token and itself is not 0")


def test_sizes_that_people_run(check):
    """200 heads; a square of 300 tokens; more than a window behind a prefix."""
    check["alibi_slopes"](200)
    check["alibi_bias"](2, 300)
    check["alibi_bias"](2, 70, 300)


@pytest.mark.derive
def test_other_sizes(check):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    check["alibi_bias"](12, 3)
    check["alibi_bias"](1, 6)
    check["alibi_bias"](12, 1, 1)
    check["alibi_slopes"](255)


@pytest.mark.derive
def test_biases_in_inference_mode(check):
    """Nothing is learned by biases: they are the same where no gradients are recorded."""
    with inference_mode(check):
        check["alibi_slopes"](6)
        check["alibi_bias"](6, 2, 5)
