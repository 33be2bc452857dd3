"""Hidden cases of valid-lens."""

import pytest
import torch

from grader.kit.attention import FAR, KEYS, far_keys, far_levels

DEEP = [-2e6, -2e9, -1e36]  # below the fills -1e6, -1e9 and -1e20


def distinct(rng, most, *shape):
    """Draw distinct lengths from 1 to ``most``."""
    count = torch.Size(shape).numel()
    return 1 + rng.permutation(most)[:count].reshape(shape)


def with_an_empty_one(rng, most, *shape):
    """The same, where the first length is 0 and the last one is ``most``."""
    lens = distinct(rng, most - 1, *shape)
    lens.view(-1)[0] = 0
    lens.view(-1)[-1] = most
    return lens


def visible(lens, keys):
    """Tell which keys the lengths (B, n) show."""
    return torch.arange(keys) < lens[..., None]


def far_apart(rng, *shape, first, step):
    """Draw scores first, first + step, ... in a random order in each row; the last row is ordinary."""
    scores = first + step * rng.normal(*shape).argsort(-1).double()
    scores[..., -1, :] = rng.normal(*shape)[..., -1, :]
    return scores


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    scores = torch.tensor([[[0.0, 1.0, 9.0], [3.0, 3.0, 3.0]], [[1.0, 1.0, 5.0], [0.0, 0.0, 0.0]]])
    check(scores, torch.tensor([2, 0]))
    check(scores, torch.tensor([[1, 3], [2, 0]]))


def test_one_small_matrix(check, rng):
    """The plain softmax, when there are no lengths at all."""
    check(rng.normal(1, 2, 3))


def test_without_lengths(check, rng):
    """None, given or not, shows everything."""
    check(rng.normal(2, 3, 5), None)
    check(scores=rng.normal(3, 4, 2))
    check(rng.normal(3, 3, 3))


def test_sizes_of_one(check, rng):
    """One sequence, one query, one key: the axes stay."""
    check(rng.normal(2, 3, 1))
    check(rng.normal(1, 1, 4))
    check(rng.normal(1, 1, 1))


def test_large_scores_of_both_signs(check, rng):
    """The exponential of a large score overflows, that of a very negative one vanishes; their ratio does neither."""
    check(far_apart(rng, 2, 3, 5, first=-1e4, step=5e3))
    check(far_apart(rng, 2, 3, 5, first=-5e3, step=-5e3))


@pytest.mark.derive("grad", "device", "contract")
def test_each_row_has_its_own_level(check, rng):
    """Rows that differ by hundreds do not know of each other."""
    level = torch.tensor([0.0, -100.0, 120.0, 50.0], dtype=torch.float64)
    check(rng.normal(2, 4, 5) + level[:, None])


def test_scores_with_a_common_level(check, rng):
    """What all scores of a row have in common does not count, and float64 can tell them apart at any level."""
    level = 2.0**14 if check.dtype == torch.float64 else 4.0
    check(rng.normal(2, 3, 5) + level)
    check(rng.normal(2, 3, 5) - level)


@pytest.mark.mask
def test_one_length_for_each_sequence(check, rng):
    """Lengths (B,): all queries of a sequence see the same keys."""
    check(rng.normal(2, 3, 5), distinct(rng, 5, 2))
    check(rng.normal(4, 2, 6), valid_lens=distinct(rng, 6, 4))


@pytest.mark.mask
def test_one_length_for_each_query(check, rng):
    """Lengths (B, n): every query has its own."""
    check(rng.normal(2, 3, 7), distinct(rng, 7, 2, 3))
    check(rng.normal(3, 2, 8), valid_lens=distinct(rng, 8, 3, 2))


@pytest.mark.mask
def test_as_many_queries_as_sequences(check, rng):
    """B == n, and B == n == m: a length that is lined up with the wrong axis would fit as well."""
    check(rng.normal(3, 3, 5), distinct(rng, 5, 3))
    check(rng.normal(3, 3, 9), distinct(rng, 9, 3, 3))
    check(rng.normal(4, 4, 4), torch.stack([distinct(rng, 4, 4) for _ in range(4)]))
    check(rng.normal(4, 4, 4), distinct(rng, 4, 4))


@pytest.mark.mask
def test_more_queries_than_keys(check, rng):
    """B == m, n == m: no axis may be taken for another."""
    check(rng.normal(3, 5, 3), distinct(rng, 3, 3))
    check(rng.normal(2, 4, 4), distinct(rng, 4, 2))


@pytest.mark.mask
def test_one_sequence_or_one_query(check, rng):
    """Axes of size 1 in scores and lengths."""
    check(rng.normal(1, 3, 5), distinct(rng, 4, 1))
    check(rng.normal(1, 3, 5), distinct(rng, 5, 1, 3))
    check(rng.normal(3, 1, 5), distinct(rng, 5, 3))
    check(rng.normal(3, 1, 5), distinct(rng, 5, 3, 1))


@pytest.mark.mask
def test_lengths_that_grow_from_query_to_query(check, rng):
    """Lengths (B, n) can say what a causal mask says."""
    check(rng.normal(2, 5, 5), torch.arange(1, 6).repeat(2, 1))


@pytest.mark.mask
def test_length_of_all_keys(check, rng):
    """A length of m hides nothing."""
    check(rng.normal(2, 3, 5), torch.tensor([5, 5]))
    check(rng.normal(2, 3, 5), torch.full((2, 3), 5))
    check(rng.normal(2, 3, 5), torch.tensor([5, 2]))


@pytest.mark.mask
def test_length_of_one_key(check, rng):
    """The only visible key gets all the weight."""
    check(rng.normal(2, 3, 4, scale=5.0), torch.tensor([1, 3]))
    check(rng.normal(2, 2, 4, scale=5.0), torch.tensor([[1, 4], [1, 1]]))


@pytest.mark.mask
def test_length_zero_of_a_sequence(check, rng):
    """A sequence without tokens gets zeros; the sequences beside it are not disturbed."""
    check(rng.normal(3, 2, 5), with_an_empty_one(rng, 5, 3))
    check(rng.normal(1, 2, 5), torch.tensor([0]))


@pytest.mark.mask
def test_length_zero_of_a_query(check, rng):
    """A query that may look at nothing gets zeros; the queries beside it are not disturbed."""
    check(rng.normal(2, 3, 7), with_an_empty_one(rng, 7, 2, 3))


@pytest.mark.mask
def test_nothing_visible_at_all(check, rng):
    """All lengths 0, also when there is one key only."""
    check(rng.normal(2, 3, 4), torch.zeros(2, dtype=torch.int64))
    check(rng.normal(2, 3, 4), torch.zeros(2, 3, dtype=torch.int64))
    check(rng.normal(2, 3, 1), torch.zeros(2, dtype=torch.int64))


@pytest.mark.mask
def test_one_key_visible_or_not(check, rng):
    """With a single key a query gives it everything or nothing."""
    check(rng.normal(2, 3, 1), torch.tensor([1, 0]))
    check(rng.normal(2, 2, 1), torch.tensor([[0, 1], [1, 0]]))


@pytest.mark.mask
def test_hundreds_of_keys(check, rng):
    """Lengths beyond 256 and 2048 are still whole numbers, in half precision too; short ones leave hundreds hidden."""
    level = torch.where(torch.arange(300) < 250, -12.0, 0.0)  # few keys share the weight: none of them is small
    check(rng.normal(3, 1, 300, scale=0.1) + level, torch.tensor([257, 263, 299]))
    check(rng.normal(1, 2, 300, scale=0.1) + level, torch.tensor([[259, 285]]))
    level = torch.where(torch.arange(2100) < 2045, -12.0, 0.0)
    check(rng.normal(3, 1, 2100, scale=0.1) + level, torch.tensor([2049, 2051, 2099]))
    check(rng.normal(2, 3, 300), torch.tensor([3, 5]))
    check(rng.normal(2, 3, 300), distinct(rng, 7, 2, 3))


@pytest.mark.mask
def test_transposed_scores_and_lengths(check, rng):
    """Views of both, whose memory is in another order."""
    check(rng.normal(2, 7, 3).transpose(1, 2), with_an_empty_one(rng, 7, 2, 3))
    check(rng.normal(3, 2, 7).transpose(0, 1), with_an_empty_one(rng, 7, 3, 2).T)


@pytest.mark.mask
def test_one_tensor_stands_for_many(check, rng):
    """Expanded scores and lengths share their memory: whoever writes into it writes everywhere."""
    check(rng.normal(1, 1, 5).expand(3, 2, 5), with_an_empty_one(rng, 5, 3))
    check(rng.normal(2, 3, 5), torch.tensor([[2, 0, 4]]).expand(2, 3))
    check(rng.normal(2, 3, 5), torch.tensor([[4], [1]]).expand(2, 3))


@pytest.mark.mask
def test_hidden_scores_are_the_largest(check, rng):
    """A hidden key must not matter, however well it would have matched."""
    lens = distinct(rng, 6, 2, 3)
    keep = visible(lens, 6)
    check(torch.where(keep, rng.normal(2, 3, 6), 3e4 + rng.normal(2, 3, 6)), lens)
    lens = distinct(rng, 5, 2)
    check(torch.where(visible(lens[:, None], 6), rng.normal(2, 3, 6), 3e4), lens)


@pytest.mark.mask
def test_visible_scores_are_very_negative(check, rng):
    """However badly the visible keys match, the hidden ones are no alternative."""
    lens = with_an_empty_one(rng, 6, 2)
    keep = visible(lens[:, None], 6)
    check(torch.where(keep, far_apart(rng, 2, 3, 6, first=-1.2e4, step=-3e3), rng.normal(2, 3, 6)), lens)
    lens = distinct(rng, 5, 2)
    keep = visible(lens[:, None], 6)
    check(torch.where(keep, far_apart(rng, 2, 3, 6, first=-1.2e4, step=-3e3), rng.normal(2, 3, 6) + 1e3), lens)


@pytest.mark.mask
@pytest.mark.derive("grad", "device", "contract")
@pytest.mark.parametrize("depth", DEEP)
def test_no_finite_score_is_too_low(check, rng, depth):
    """A finite stand-in for minus infinity is only as good as the lowest score it meets."""
    lens = distinct(rng, 5, 2)
    keep = visible(lens[:, None], 6)
    check(torch.where(keep, far_apart(rng, 2, 3, 6, first=depth, step=depth), rng.normal(2, 3, 6)), lens)


@pytest.mark.mask
def test_common_level_before_the_length(check, rng):
    """The visible scores share a level of their own; float64 can tell them apart at any level."""
    level = 2.0**14 if check.dtype == torch.float64 else 4.0
    check(rng.normal(2, 3, 5) + level, distinct(rng, 5, 2))
    check(rng.normal(2, 3, 7) - level, with_an_empty_one(rng, 7, 2, 3))


@pytest.mark.mask
def test_hidden_scores_leave_no_trace(check, rng):
    """Changing what stands behind the length must not change one bit of the result."""
    lens = with_an_empty_one(rng, 7, 2, 3)
    scores = rng.normal(2, 3, 7)
    before = check(scores, lens)
    after = check(torch.where(visible(lens, 7), scores, rng.normal(2, 3, 7, scale=100.0)), lens)
    check.same(before, after, "the weights moved when only hidden scores were changed")


@pytest.mark.mask
def test_both_ranks_say_the_same(check, rng):
    """A length for the sequence is the same length for each of its queries."""
    lens = with_an_empty_one(rng, 5, 3)
    scores = rng.normal(3, 2, 5)
    check.close(
        check(scores, lens),
        check(scores, lens[:, None].repeat(1, 2)),
        "lengths (B,) give other weights than the same lengths written out for each query",
    )


@pytest.mark.derive("device", "contract")
def test_near_ties_at_large_scores(check, rng):
    """Scores of 16384 that differ by one or two: float32 tells them apart, and weights keep their digits."""
    check(2.0**14 + rng.integers(0, 3, 2, 3, 5).double())
    check(2.0**14 + rng.integers(0, 3, 2, 3, 5).double(), with_an_empty_one(rng, 5, 2))


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_faint_weights(check, rng):
    """A weight of 1e-100 is a weight, to all its digits: what it is for may be as large."""
    scores = rng.normal(2, 3, 70) - 230.0 * rng.integers(0, 2, 2, 3, 70)
    for result in (check(scores), check(scores, with_an_empty_one(rng, 70, 2))):
        faint = (result.got - result.want).abs() <= 1e-9 * result.want
        check.that(bool(faint.all()), "a faint weight has lost its digits")


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    check(rng.normal(9, 300, 2), rng.integers(0, 3, 9, 300))
    check(torch.zeros(2, 3, 5), with_an_empty_one(rng, 5, 2))


@pytest.mark.mask
@pytest.mark.derive("device")
@pytest.mark.parametrize("keys", KEYS)
def test_many_scores_far_from_zero(check, rng, keys):
    """Rows of 20 to 600 scores far above and far below zero: what is visible shares a weight of 1."""
    for height in FAR:
        scores = far_levels(rng, height, 2, 4, keys) + far_keys(height, keys) - height
        check(scores)
        check(scores, with_an_empty_one(rng, keys, 2))
        check(scores, with_an_empty_one(rng, keys, 2, 4))
