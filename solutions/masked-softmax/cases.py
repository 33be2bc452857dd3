"""Hidden cases of masked-softmax."""

import pytest
import torch

from grader.kit.attention import FAR, KEYS, both_kinds, far_keys, far_levels, rows_of_all_kinds
from grader.kit.forms import hides

# First score and step below the fills -1e4, -65504, -1e9 and -1e20.
DEEP = [(-2e4, -2e4), (-7e4, -4e3), (-2e9, -2e9), (-1e36, -1e36)]


def far_apart(rng, *shape, first, step):
    """Draw scores first, first + step, ... in a random order in each row; the last row is ordinary."""
    scores = first + step * rng.normal(*shape).argsort(-1).double()
    scores[..., -1, :] = rng.normal(*shape)[..., -1, :]
    return scores


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    scores = torch.tensor([[0.0, 1.0, 9.0], [2.0, 2.0, 2.0], [3.0, 1.0, 2.0]])
    mask = torch.tensor([[True, True, False], [True, True, True], [False, False, False]])
    check(scores, mask)


def test_one_small_matrix(check, rng):
    """The plain softmax, when there is no mask at all."""
    check(rng.normal(2, 3))


def test_a_single_row(check, rng):
    """Scores may have one axis only."""
    check(rng.normal(5))
    check(rng.normal(5), rng.keep(5))


def test_one_key(check, rng):
    """A query with one key gives it everything, whatever the score."""
    check(rng.normal(2, 3, 1))


def test_any_axis_can_hold_the_keys(check, rng):
    """Nothing says that the keys are on the last axis."""
    scores = rng.normal(2, 3, 4)
    for dim in (0, 1, 2, -1, -2, -3):
        check(scores, dim=dim)


def test_dim_is_the_third_argument(check, rng):
    """The signature is part of the contract: scores, mask, dim."""
    check(rng.normal(3, 4), None, 0)


def test_many_leading_axes(check, rng):
    """Batch, heads and more: the axes in front do not matter."""
    check(rng.normal(2, 3, 2, 4, 5))


def test_large_scores_of_both_signs(check, rng):
    """The exponential of a large score overflows, that of a very negative one vanishes; their ratio does neither."""
    check(far_apart(rng, 2, 3, 5, first=-1e4, step=5e3))
    check(far_apart(rng, 2, 3, 5, first=5e3, step=5e3))
    check(far_apart(rng, 2, 3, 5, first=-5e3, step=-5e3))


@pytest.mark.derive("grad", "device", "contract")
def test_scores_beyond_the_range_of_half_precision(check, rng):
    """A million is a score like any other."""
    check(far_apart(rng, 2, 3, 5, first=-1e6, step=5e5))
    check(far_apart(rng, 2, 3, 5, first=-1e6, step=-1e6))


def test_scores_with_a_common_level(check, rng):
    """What all scores of a row have in common does not count, and float64 can tell them apart at any level."""
    level = 2.0**14 if check.dtype == torch.float64 else 4.0
    check(rng.normal(2, 3, 5) + level)
    check(rng.normal(2, 3, 5) - level)


@pytest.mark.derive("grad", "device", "contract")
def test_each_row_has_its_own_level(check, rng):
    """Rows that differ by hundreds do not know of each other."""
    level = torch.tensor([0.0, -100.0, 120.0, 50.0], dtype=torch.float64)
    check(rng.normal(2, 4, 5) + level[:, None])
    check(rng.normal(2, 5, 4) + level, dim=1)
    many = rng.normal(2, 60, 40) + 8 * level.repeat(15)[:, None]
    check(many)
    check(many, both_kinds(rng, 2, 60, 40))
    check(many.transpose(1, 2), both_kinds(rng, 2, 60, 40).transpose(1, 2), dim=1)


def test_transposed_scores(check, rng):
    """A view of the scores is as good as a copy."""
    check(rng.normal(2, 5, 3).transpose(1, 2))


@pytest.mark.mask
def test_hides_some_keys(check, rng):
    """Hidden keys get nothing, and what they would have had goes to the visible ones."""
    check(rng.normal(2, 3, 5), rng.keep(2, 3, 5))


@pytest.mark.mask
def test_everything_visible(check, rng):
    """A mask that hides nothing changes nothing."""
    check(rng.normal(2, 3, 5), torch.ones(2, 3, 5, dtype=torch.bool))


@pytest.mark.mask
def test_one_visible_key(check, rng):
    """The only visible key gets all the weight."""
    mask = torch.zeros(2, 3, 4, dtype=torch.bool)
    mask[0, :, 2] = True
    mask[1, :, 0] = True
    check(rng.normal(2, 3, 4, scale=5.0), mask)


@pytest.mark.mask
def test_mask_without_a_batch_axis(check, rng):
    """One mask (n, m) for all of the batch; B == n, so that the wrong axis would fit as well."""
    check(rng.normal(3, 3, 5), rng.keep(3, 5))
    check(rng.normal(2, 2, 3, 3), rng.keep(3, 3))


@pytest.mark.mask
def test_mask_of_one_axis(check, rng):
    """The same keys are hidden from everyone."""
    check(rng.normal(2, 5, 5), rng.keep(5))


@pytest.mark.mask
@pytest.mark.parametrize("shape", [(2, 1, 5), (1, 3, 5), (1, 1, 5), (2, 3, 5)])
def test_mask_broadcasts_over_three_axes(check, rng, shape):
    """An axis of size 1 in the mask stands for all indices of the scores."""
    check(rng.normal(2, 3, 5), rng.keep(*shape))


@pytest.mark.mask
@pytest.mark.parametrize("shape", [(2, 1, 1, 5), (2, 1, 4, 5), (1, 3, 1, 5), (2, 3, 4, 5)])
def test_mask_broadcasts_over_heads(check, rng, shape):
    """The same with a head axis."""
    check(rng.normal(2, 3, 4, 5), rng.keep(*shape))


@pytest.mark.mask
def test_mask_that_hides_whole_queries(check, rng):
    """A mask (B, n, 1) shows a query everything or nothing."""
    mask = torch.tensor([[True, False, True], [False, True, True]])[:, :, None]
    check(rng.normal(2, 3, 4), mask)


@pytest.mark.mask
def test_nothing_visible_in_a_row(check, rng):
    """A query that may look at nothing gets zeros; the queries beside it are not disturbed."""
    check(rng.normal(2, 3, 5), both_kinds(rng, 2, 3, 5))


@pytest.mark.mask
def test_nothing_visible_in_one_sequence(check, rng):
    """A padded-out sequence in the batch, by a mask that broadcasts over the queries."""
    mask = rng.keep(3, 1, 4)
    mask[1] = False
    check(rng.normal(3, 2, 4), mask)


@pytest.mark.mask
def test_nothing_visible_at_all(check, rng):
    """All hidden, also when there is one key only."""
    check(rng.normal(2, 3, 4), torch.zeros(2, 3, 4, dtype=torch.bool))
    check(rng.normal(2, 3, 1), torch.zeros(3, 1, dtype=torch.bool))


@pytest.mark.mask
def test_mask_along_another_axis(check, rng):
    """The keys are on axis 1: a slice there is empty while every row of the last axis is not, and the reverse."""
    scores = rng.normal(2, 4, 3)
    empty_slice = rng.keep(2, 3, 4).transpose(1, 2)
    empty_slice[0, :, 1] = False
    empty_slice[0, :, 0] = True
    check(scores, empty_slice, dim=1)
    check(scores, empty_slice, dim=-2)
    empty_row = rng.keep(2, 3, 4).transpose(1, 2)
    empty_row[1, 2, :] = False
    empty_row[1, 1, :] = True
    check(scores, empty_row, dim=1)


@pytest.mark.mask
def test_mask_with_fewer_axes_along_another_axis(check, rng):
    """`dim` counts the axes of the scores, not those of the mask."""
    mask = both_kinds(rng, 3, 4)
    check(rng.normal(2, 3, 4), mask, dim=0)
    check(rng.normal(2, 3, 4), mask, dim=1)
    check(rng.normal(2, 3, 4), mask, dim=2)
    check(rng.normal(2, 3, 4), rng.keep(3, 1), dim=1)


@pytest.mark.mask
@pytest.mark.derive("grad")
def test_every_axis_under_every_mask(check, rng):
    """One axis to five, keys on each of them: masks of as many axes or fewer, whole, expanded, blind in one place."""
    seen = []
    for shape in (
        (4,),
        (1,),
        (1, 4),
        (3, 1),
        (3, 3),
        (2, 1, 3),
        (1, 3, 4),
        (3, 2, 1, 2),
        (2, 2, 3, 3),
        (1, 2, 2, 1, 3),
    ):
        for dim in range(len(shape)):
            scores, counted = rng.normal(*shape), dim - (len(shape) if rng.integers(0, 2) else 0)
            blind = rng.uniform(*shape) < 0.6
            blind.select(dim, int(rng.permutation(shape[dim])[0]))[...] = True
            blind.movedim(dim, -1)[tuple([-1] * (len(shape) - 1))] = False
            whole = rng.uniform(*(1 if axis == dim else size for axis, size in enumerate(shape))) < 0.6
            fewer = rng.uniform(*shape[1:]) < 0.6 if len(shape) > 1 else ~blind
            seen += [(check(scores, mask, counted), mask) for mask in (blind, whole.expand(shape), fewer)]
    hides(check, seen)


@pytest.mark.mask
def test_hidden_scores_are_the_largest(check, rng):
    """A hidden key must not matter, however well it would have matched."""
    mask = rng.keep(2, 3, 6)
    check(torch.where(mask, rng.normal(2, 3, 6), 3e4 + rng.normal(2, 3, 6)), mask)
    check(torch.where(mask, far_apart(rng, 2, 3, 6, first=-4e3, step=-4e3), rng.normal(2, 3, 6)), mask)


@pytest.mark.mask
def test_visible_scores_are_very_negative(check, rng):
    """However badly the visible keys match, the hidden ones are no alternative."""
    mask = both_kinds(rng, 2, 3, 6)
    check(torch.where(mask, far_apart(rng, 2, 3, 6, first=-1.2e4, step=-3e3), rng.normal(2, 3, 6)), mask)
    check(torch.where(mask, far_apart(rng, 2, 3, 6, first=-1.2e4, step=-3e3), rng.normal(2, 3, 6) + 1e3), mask)


@pytest.mark.mask
@pytest.mark.derive("grad", "device", "contract")
@pytest.mark.parametrize(("first", "step"), DEEP)
def test_no_finite_score_is_too_low(check, rng, first, step):
    """A finite stand-in for minus infinity is only as good as the lowest score it meets."""
    mask = both_kinds(rng, 2, 3, 6)
    scores = torch.where(mask, far_apart(rng, 2, 3, 6, first=first, step=step), rng.normal(2, 3, 6))
    check(scores, mask)
    check(scores.movedim(-1, 0), mask.movedim(-1, 0), dim=0)


@pytest.mark.mask
def test_common_level_under_a_mask(check, rng):
    """The visible scores share a level of their own; float64 can tell them apart at any level."""
    level = 2.0**14 if check.dtype == torch.float64 else 4.0
    check(rng.normal(2, 3, 5) + level, both_kinds(rng, 2, 3, 5))
    check(rng.normal(2, 3, 5) - level, both_kinds(rng, 2, 3, 5))


@pytest.mark.mask
def test_hidden_scores_leave_no_trace(check, rng):
    """Changing what is hidden must not change one bit of the result."""
    mask = both_kinds(rng, 2, 3, 6)
    scores = rng.normal(2, 3, 6)
    before = check(scores, mask)
    after = check(torch.where(mask, scores, rng.normal(2, 3, 6, scale=100.0)), mask)
    check.same(before, after, "the weights moved when only hidden scores were changed")


@pytest.mark.mask
def test_transposed_scores_and_mask(check, rng):
    """Views of both, as they come out of an attention layer."""
    check(rng.normal(2, 3, 5, 4).transpose(1, 2), both_kinds(rng, 2, 5, 4, 3).transpose(2, 3))


@pytest.mark.mask
def test_one_tensor_stands_for_many_rows(check, rng):
    """An expanded tensor shares its memory: whoever writes into it writes everywhere."""
    mask = both_kinds(rng, 3, 5)
    check(rng.normal(1, 1, 5).expand(2, 3, 5), mask)


@pytest.mark.derive("device", "contract")
def test_near_ties_at_large_scores(check, rng):
    """Scores of 16384 that differ by one or two: float32 tells them apart, and weights keep their digits."""
    check(2.0**14 + rng.integers(0, 3, 2, 3, 5).double())
    check(2.0**14 + rng.integers(0, 3, 2, 3, 5).double(), both_kinds(rng, 2, 3, 5))


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_faint_weights(check, rng):
    """A weight of 1e-100 is a weight, to all its digits: what it is for may be as large."""
    scores = rng.normal(2, 3, 70) - 230.0 * rng.integers(0, 2, 2, 3, 70)
    mask = both_kinds(rng, 2, 3, 70)
    mask[0, 0] = scores[0, 0] < -100.0  # hidden keys outweigh by far what a query sees
    for result in (check(scores), check(scores, mask)):
        faint = (result.got - result.want).abs() <= 1e-9 * result.want
        check.that(bool(faint.all()), "a faint weight has lost its digits")


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    check(rng.normal(9, 300, 3), mask=rng.keep(300, 3))
    check(rng.normal(2, 4100))
    check(rng.normal(1, 2, 1100), mask=rng.keep(2, 1100))
    check(rng.normal(9, 2, 1, 70))
    check(rng.normal(9, 2, 1, 70), mask=rng.keep(9, 1, 1, 70))
    check(rng.normal(2, 1, 2, 3, 4), mask=rng.keep(1, 1, 2, 3, 4))
    for shape in ((1, 1, 3, 4), (3, 3, 3, 3), (2, 1, 5)):
        check(rng.normal(*shape), mask=rng.keep(*shape))
    check(torch.zeros(2, 3, 5), both_kinds(rng, 2, 3, 5))


@pytest.mark.mask
@pytest.mark.derive("device")
@pytest.mark.parametrize("keys", KEYS)
def test_many_scores_far_from_zero(check, rng, keys):
    """Rows of 20 to 600 scores far above and far below zero: what is visible shares a weight of 1."""
    for height in FAR:
        scores = far_levels(rng, height, 2, 4, keys) + far_keys(height, keys) - height
        check(scores)
        check(scores, rows_of_all_kinds(rng, 4, keys))
