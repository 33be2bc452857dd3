"""Hidden cases of additive-attention: masks."""

import pytest
import torch
from cases import on_a_level, sequences, sharp, switches

from grader.kit.attention import both_kinds


def low_scores(rng, mask, visible):
    """Make inputs for switches: visible keys are numbers of which each has its own bits, hidden ones score 0."""
    batch, keys = mask.shape
    q, k, v = sequences(rng, batch, 2, keys, (3, visible, 4))
    for row in range(batch):
        codes = rng.permutation(2 ** (visible - 1))[:keys]
        k[row] = torch.stack([codes * 0 + 1, *(codes >> bit & 1 for bit in range(visible - 1))], dim=-1).double()
    return q, k * mask[..., None], v


@pytest.mark.mask
def test_hides_some_keys(check, rng):
    """A mask (B, n, m), one for each sequence."""
    attention = sharp(check, rng, 3, 4, 5)
    attention(*sequences(rng, 2, 3, 5, (3, 4, 2)), mask=rng.keep(2, 3, 5))


@pytest.mark.mask
def test_everything_visible(check, rng):
    """A mask that hides nothing changes nothing; it is the fourth argument."""
    attention = sharp(check, rng, 3, 4, 5)
    attention(*sequences(rng, 2, 3, 5, (3, 4, 2)), torch.ones(2, 3, 5, dtype=torch.bool))


@pytest.mark.mask
def test_two_dimensional_mask(check, rng):
    """(n, m) holds for all sequences; B == n, so that another reading would fit."""
    attention = sharp(check, rng, 3, 4, 5)
    attention(*sequences(rng, 3, 3, 5, (3, 4, 2)), mask=rng.keep(3, 5))
    attention(*sequences(rng, 2, 4, 5, (3, 4, 2)), mask=rng.keep(4, 5))


@pytest.mark.mask
@pytest.mark.parametrize("shape", [(3, 1, 5), (1, 3, 5), (1, 1, 5)])
def test_three_axes_some_of_them_one(check, rng, shape):
    """A padding mask (B, 1, m) or a causal one (1, n, m); B == n."""
    attention = sharp(check, rng, 3, 4, 5)
    attention(*sequences(rng, 3, 3, 5, (3, 4, 2)), mask=rng.keep(*shape))


@pytest.mark.mask
def test_nothing_visible_for_a_query(check, rng):
    """Its weights and its output are 0; the queries beside it are not disturbed."""
    attention = sharp(check, rng, 3, 4, 5)
    attention(*sequences(rng, 2, 4, 5, (3, 4, 2)), mask=both_kinds(rng, 2, 4, 5))


@pytest.mark.mask
def test_nothing_visible_at_all(check, rng):
    """In one sequence of the batch; for everybody; with one key only."""
    attention = sharp(check, rng, 3, 4, 5)
    mask = rng.keep(3, 1, 5)
    mask[1] = False
    attention(*sequences(rng, 3, 4, 5, (3, 4, 2)), mask=mask)
    attention(*sequences(rng, 2, 3, 4, (3, 4, 2)), mask=torch.zeros(3, 4, dtype=torch.bool))
    attention(*sequences(rng, 2, 3, 1, (3, 4, 2)), mask=torch.zeros(2, 3, 1, dtype=torch.bool))


@pytest.mark.mask
@pytest.mark.parametrize("score", [3072.0, 61440.0])
def test_hidden_keys_match_by_thousands(check, rng, score):
    """Whoever merely lowers the scores of hidden keys, or rescales afterwards, lets them through."""
    attention = switches(check, [score, 1.0, 0.5, -2.0])
    mask = both_kinds(rng, 2, 1, 6)
    mask[1] = rng.keep(1, 6)
    hidden = ~mask.transpose(1, 2)
    queries, keys, values = sequences(rng, 2, 3, 6, (3, 4, 5))
    keys[..., :1] = hidden.double()
    attention(queries, keys, torch.where(hidden, 100.0, values), mask=mask)


@pytest.mark.mask
def test_visible_scores_are_very_negative(check, rng):
    """Visible scores of -12288 and less beside hidden ones of 0."""
    attention = switches(check, [-12288.0, -3072.0, -6144.0, -12288.0])
    mask = rng.keep(2, 6)
    attention(*low_scores(rng, mask, 4), mask=mask[:, None])


@pytest.mark.mask
@pytest.mark.derive("grad", "device", "contract")
@pytest.mark.parametrize("level", [-(2.0**40), -(2.0**120)])
def test_no_finite_score_is_too_low(check, rng, level):
    """A finite stand-in for minus infinity is only as good as the lowest score it meets."""
    attention = switches(check, [level, level, 2 * level, 4 * level])
    mask = rng.keep(2, 6)
    attention(*low_scores(rng, mask, 4), mask=mask[:, None])


@pytest.mark.mask
def test_common_level_under_a_mask(check, rng):
    """The visible scores share a level of their own; float64 can tell them apart at any level."""
    attention = on_a_level(check, rng, 2.0**14 if check.dtype == torch.float64 else 1.0)
    queries, keys, values = sequences(rng, 2, 3, 5, (3, 4, 2))
    keys[..., 0] = 1.0
    attention(queries, keys, values, mask=both_kinds(rng, 2, 3, 5))


@pytest.mark.mask
def test_what_is_hidden_leaves_no_trace(check, rng):
    """Changing hidden keys and values must not change one bit of the results."""
    attention = sharp(check, rng, 3, 4, 5)
    mask = both_kinds(rng, 3, 1, 6)
    visible = mask.transpose(1, 2)
    queries, keys, values = sequences(rng, 3, 3, 6, (3, 4, 2))
    before = attention(queries, keys, values, mask=mask)
    other_keys = torch.where(visible, keys, rng.normal(3, 6, 4, scale=10.0))
    other_values = torch.where(visible, values, rng.normal(3, 6, 2, scale=100.0))
    after = attention(queries, other_keys, other_values, mask=mask)
    check.same(before, after, "the results moved when only hidden keys and values were changed")


@pytest.mark.mask
def test_transposed_and_expanded_masks(check, rng):
    """Views of masks are masks."""
    attention = sharp(check, rng, 3, 4, 5)
    inputs = sequences(rng, 2, 3, 5, (3, 4, 2))
    attention(*inputs, mask=rng.keep(2, 5, 3).transpose(1, 2))
    attention(*inputs, mask=rng.keep(2, 1, 5).expand(2, 3, 5))


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
def test_the_visible_score_is_the_lowest(check, rng):
    """The only visible key matches worst of all: there is no room below it."""
    attention = switches(check, [2.0**40])
    mask = torch.nn.functional.one_hot(rng.integers(0, 6, 2), 6).bool()
    q, k, v = sequences(rng, 2, 2, 6, (3, 1, 4))
    attention(q, torch.where(mask[..., None], -1.0, torch.zeros_like(k)), v, mask=mask[:, None])


@pytest.mark.mask
@pytest.mark.precise
@pytest.mark.derive("grad")
def test_sizes_under_a_mask(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: what is hidden stays hidden."""
    attention = sharp(check, rng, 4, 4, 70)
    attention(*sequences(rng, 4, 4, 4, (4, 4, 4)), mask=rng.keep(4, 4, 4))
    attention(*sequences(rng, 1, 300, 5, (4, 4, 70)), mask=rng.keep(300, 5))
    queries, keys, values = sequences(rng, 2, 1, 300, (4, 4, 3))
    attention(queries, keys, values, mask=rng.keep(2, 1, 300))
    attention(3e4 * queries, keys, values, mask=rng.keep(1, 300))
