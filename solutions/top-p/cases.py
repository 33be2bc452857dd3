"""Hidden cases of top-p."""

import pytest
import torch

# Where a sum comes close to p, half precision may decide otherwise: such cases have no `dtype` variant.
without_dtype = pytest.mark.derive("device", "contract")
LADDER = [0.4, 0.25, 0.15, 0.1, 0.06, 0.04]  # adds up to 0.4, 0.65, 0.8, 0.9, 0.96, 1


def shuffled(rng, probabilities, *rows):
    """Logits whose softmax are these probabilities, in another order in each row."""
    logits = torch.tensor(probabilities, dtype=torch.float64).log()
    count = torch.Size(rows).numel()
    mixed = torch.stack([logits[rng.permutation(len(probabilities))] for _ in range(count)])
    return (mixed + rng.normal(count, 1) / 2).view(*rows, -1)


def clear(draw, p, margin=1e-3):
    """Draw until no sum of probabilities is close to p and no two are close to each other."""
    for _ in range(500):
        logits = draw()
        sums = torch.softmax(logits, -1).sort(-1, descending=True).values.cumsum(-1)[..., :-1]
        gaps = logits.sort(-1).values.diff(dim=-1)
        if float((sums - p).abs().min()) > margin and float(gaps.min()) > margin:
            return logits
    raise AssertionError("no logits without a close decision")


def test_by_hand(check):
    """The example of the brief: four probabilities, then four equal logits."""
    logits = torch.tensor([0.1, 0.5, 0.15, 0.25], dtype=torch.float64).log()
    for p in (0.6, 0.8, 0.0):
        check(logits, p)
    check(torch.zeros(4, dtype=torch.float64), 0.6)


@pytest.mark.parametrize("p", [0.5, 0.72, 0.85])
def test_one_row(check, rng, p):
    """Six tokens: the nucleus ends with the token that reaches p."""
    check(shuffled(rng, LADDER, 1) + 4.0, p)


def test_the_first_token_is_enough(check, rng):
    """The most probable token alone has more than p: it survives, and nothing else."""
    check(shuffled(rng, LADDER, 3), 0.3)
    check(shuffled(rng, [0.9, 0.04, 0.03, 0.03], 2), 0.6)


def test_rows_of_different_shape(check, rng):
    """Each row has a nucleus of its own size: peaked, flat, and in between."""
    peaked, flat = [0.93, 0.03, 0.02, 0.01, 0.01], [0.21, 0.205, 0.2, 0.195, 0.19]
    rows = [shuffled(rng, row, 1) for row in (flat, peaked, [0.4, 0.3, 0.2, 0.06, 0.04], peaked, flat)]
    check(torch.cat(rows), 0.66)
    check(torch.cat(rows[::-1]), p=0.48)


@pytest.mark.parametrize("shape", [(), (2, 3), (2, 1, 2)], ids=str)
def test_any_leading_dimensions(check, rng, shape):
    """One row without a batch, and batches of several axes."""
    check(shuffled(rng, LADDER, *shape), 0.72)


def test_as_many_rows_as_tokens(check, rng):
    """A square of logits, where a wrong axis does not show in the shape."""
    check(shuffled(rng, LADDER, 6), 0.72)
    check(shuffled(rng, LADDER, 6, 6), 0.5)


@without_dtype
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9, 0.99])
def test_random_logits(check, rng, p):
    """A larger vocabulary, some logits well below 0 and some well above."""
    for spread in (0.5, 3.0):
        check(clear(lambda spread=spread: rng.normal(3, 17, scale=spread), p, 1e-4), p)


def test_p_of_zero(check, rng):
    """Nothing is asked for, but one token always survives: the most probable one."""
    check(shuffled(rng, LADDER, 4), 0.0)
    check(shuffled(rng, LADDER, 4), 1e-9)
    check(torch.zeros(2, 3, 4, dtype=torch.float64), 0.0)


def test_p_of_one(check, rng):
    """All tokens are needed."""
    check(shuffled(rng, LADDER, 3), 1.0)
    check(shuffled(rng, LADDER, 3), 1)


def test_nearly_all(check, rng):
    """Only the least probable token is ruled out, and then not even that."""
    check(shuffled(rng, [0.3, 0.25, 0.2, 0.15, 0.1], 3), 0.85)
    check(shuffled(rng, [0.3, 0.25, 0.2, 0.15, 0.1], 3), 0.95)


def test_equal_logits_at_the_edge(check, rng):
    """Tokens share a logit, but not all of them are needed: the lower ids survive."""
    for p in (0.5, 0.7, 0.3):
        row = torch.tensor([0.4, 0.2, 0.2, 0.2], dtype=torch.float64).log()
        check(torch.stack([row[rng.permutation(4)] for _ in range(4)]), p)
    check(torch.tensor([[0.0, 2.0, 2.0, 0.0], [2.0, 0.0, 0.0, 2.0]], dtype=torch.float64), 0.3)


def test_all_logits_are_equal(check):
    """A model that knows nothing: as many tokens as needed, beginning with id 0."""
    check(torch.zeros(2, 4, dtype=torch.float64), 0.6)
    check(torch.full((2, 8), -3.0, dtype=torch.float64), 0.3)
    check(torch.full((1, 5), 2.0, dtype=torch.float64), 0.0)


@without_dtype
def test_many_equal_logits(check, rng):
    """Among 64 tokens, half of which share a logit, the lower ids survive."""
    check(torch.zeros(2, 64, dtype=torch.float64), 0.5234375)  # between 33 and 34 of 64
    logits = torch.zeros(2, 64, dtype=torch.float64)
    logits[0, rng.permutation(64)[:31]] = -4.0
    logits[1, rng.permutation(64)[:31]] = -5.0
    check(logits, 0.61)


def test_a_vocabulary_of_one_and_two(check, rng):
    """Nothing to choose from; and one token beside it."""
    check(rng.normal(3, 1), 0.4)
    check(rng.normal(1), 0.0)
    check(shuffled(rng, [0.7, 0.3], 4), 0.4)
    check(shuffled(rng, [0.7, 0.3], 4), 0.9)


def test_tokens_that_are_ruled_out_already(check, rng):
    """Some logits are -inf, as another filter leaves them: they stay so and count for nothing."""
    for p in (0.5, 0.85, 1.0, 0.0):
        logits = shuffled(rng, LADDER, 3)
        ruled_out = torch.full((3, 2), float("-inf"), dtype=torch.float64)
        check(torch.cat([ruled_out[:, :1], logits, ruled_out], dim=1)[:, rng.permutation(9)], p)


def test_only_one_token_left(check, rng):
    """All logits but one are -inf."""
    logits = torch.full((2, 5), float("-inf"), dtype=torch.float64)
    logits[0, 3], logits[1, 0] = rng.normal(2)
    check(logits, 0.9)


def test_huge_logits(check, rng):
    """Logits around ten thousand and minus ten thousand: only their differences count."""
    logits = torch.tensor([0.0, 64.0, 128.0, 256.0], dtype=torch.float64)
    rows = [torch.stack([logits[rng.permutation(4)] for _ in range(3)]) + height for height in (16384.0, -16384.0)]
    for each in (*rows, torch.cat(rows)):
        check(each, 0.9)


@without_dtype
def test_huge_logits_close_to_each_other(check, rng):
    """The same with several tokens in the nucleus."""
    for height in (1024.0, -2048.0):
        logits = clear(lambda: (rng.normal(3, 6) * 256).round() / 256, 0.8, 1e-2)
        check(logits + height, 0.8)


@pytest.mark.derive("dtype")
def test_nearly_equal_logits(check, rng):
    """In float64 the higher id is ahead by a billionth, a difference that float32 does not have."""
    logits = torch.zeros(2, 5, dtype=torch.float64)
    for row in logits:
        low, high = sorted(rng.permutation(5)[:2].tolist())
        row[low], row[high] = 1.0, 1.0 + 2.0**-30
    check(logits, 0.2)


def test_views(check, rng):
    """Logits that are a transposed or an expanded view."""
    check(shuffled(rng, LADDER, 3).t().contiguous().t(), 0.72)
    check(shuffled(rng, LADDER, 1).expand(3, 6), 0.72)


@pytest.mark.contract
def test_the_logits_are_left_alone(check, rng):
    """The caller may still need them: nothing is written into them, whatever p is."""
    logits = shuffled(rng, LADDER, 2)
    for p in (0.0, 0.5, 0.85, 1.0):
        check(logits, p)


@without_dtype
def test_p_that_ends_anywhere(check, rng):
    """P is as it is: neither rounded nor taken for 0 or 1 where it is close."""
    for p in (0.6512, 0.64878, 0.99937, 0.9962):
        check(shuffled(rng, [0.4, 0.25, 0.2, 0.147, 0.0026, 0.0004], 3), p)
    check(shuffled(rng, [0.4002, 0.2502, 0.2, 0.1, 0.0496], 2), 0.65045)
    check(torch.zeros(1, 400, dtype=torch.float64), 0.00625)


@without_dtype
def test_a_vocabulary_of_a_thousand(check, rng):
    """701 of a thousand equal tokens, 880 of a thousand that differ, and 3,001 of more than four thousand."""
    check(torch.zeros(2, 1000, dtype=torch.float64), 0.7005)
    check(torch.zeros(4200, dtype=torch.float64), 3000.5 / 4200)
    levels = torch.stack([rng.permutation(1000), rng.permutation(1000)]).double() / 1024
    sums = torch.softmax(levels[0], -1).sort(descending=True).values.cumsum(-1)
    check(levels, (sums[879] + sums[880]).item() / 2)


@without_dtype
def test_rows_of_three_axes(check, rng):
    """Each row of each axis has a nucleus of its own."""
    rows = [shuffled(rng, ladder, 2, 4) for ladder in (LADDER, LADDER[::-1], [0.9, 0.05, 0.02, 0.01, 0.01, 0.01])]
    check(torch.stack(rows), 0.72)
    check(torch.stack(rows, dim=1), 0.72)
    check(shuffled(rng, LADDER, 4, 2)[1:, 1:], 0.72)


@pytest.mark.precise
@pytest.mark.derive
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    for rows in ((300,), (9, 2), (9, 1, 1), (1, 2, 2), (6, 6, 6)):
        check(shuffled(rng, LADDER, *rows), 0.72)
    check(3e4 + rng.normal(3), 0.9)
    peaked, flat = torch.tensor([3.0, -3.0, -3.1, -3.2]), torch.tensor([0.0, 0.1, 0.2, 0.3])
    check(torch.stack([peaked, flat, peaked])[None].double(), 0.8)
    check(torch.zeros(1, 3000, dtype=torch.float64), 2100.5 / 3000)
