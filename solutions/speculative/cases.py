"""Hidden cases of speculative."""

import pytest
import torch

TOTAL = 64
"""Probabilities are multiples of 1/64, which every dtype holds: they, their differences and their sums are exact."""
# Where a decision needs more digits than half precision has, cases have no `dtype` variant.
without_dtype = pytest.mark.derive("device", "contract")


def row(rng, vocab):
    """Draw a distribution over `vocab` tokens; each has a share."""
    cuts = (rng.permutation(TOTAL - 1)[: vocab - 1] + 1).sort().values
    edges = torch.cat([torch.zeros(1, dtype=torch.int64), cuts, torch.full((1,), TOTAL)])
    return edges.diff().double() / TOTAL


def rows(rng, count, vocab):
    """Draw several distributions: (count, vocab)."""
    return torch.stack([row(rng, vocab) for _ in range(count)])


def drawn(weights, u):
    """Return the id that `u` draws from these weights, and how far from another one that is."""
    sums = weights.cumsum(0) / weights.sum()
    return int((sums <= u).sum()), float((sums[:-1] - u).abs().min()) if len(weights) > 1 else 1.0


def scene(rng, kept, drafts=4, vocab=6, behind=None):
    """Make a call in which `kept` drafts are accepted, with room to every other decision.

    The token that is drawn is none that the bare target, another uniform or the largest weight would give; `behind` is
    the uniform of the drafts behind the rejected one.
    """
    for _ in range(2000):
        q, p = rows(rng, drafts, vocab), rows(rng, drafts + 1, vocab)
        tokens = rng.integers(0, vocab, drafts)
        ratios = p[:drafts].gather(1, tokens[:, None])[:, 0] / q.gather(1, tokens[:, None])[:, 0]
        u = rng.uniform(drafts + 1, low=0.05, high=0.95)
        u[:kept] = u[:kept] * ratios[:kept].clamp(max=1)
        if kept < drafts:
            u[kept] = ratios[kept] + (0.97 - ratios[kept]) * u[kept]
            if behind is not None:
                u[kept + 1 : drafts] = behind
            if not ratios[kept] < 0.9 or (u[kept] - ratios[kept]) < 0.05:
                continue
        if bool(((u[:kept] - ratios[:kept]).abs() < 0.02).any()) or bool((u[:kept] > 0.97).any()):
            continue
        weights = (p[kept] - q[kept]).clamp(min=0) if kept < drafts else p[drafts]
        token, room = drawn(weights, u[-1])
        misled = {drawn(weights, u[kept])[0], int(weights.argmax())} if kept < drafts else {int(weights.argmax())}
        if kept < drafts:
            misled |= {drawn(p[kept], u[-1])[0], drawn(p[-1], u[-1])[0], int(tokens[kept])}
        if room > 0.05 and token not in misled:
            return tokens, q, p, u
    raise AssertionError("no scene with room to every decision")


def test_by_hand(check):
    """The example of the task: all are kept, the second is rejected, the first is."""
    tokens = torch.tensor([1, 0])
    draft = torch.tensor([[0.2, 0.5, 0.3], [0.6, 0.2, 0.2]], dtype=torch.float64)
    target = torch.tensor([[0.3, 0.4, 0.3], [0.3, 0.3, 0.4], [0.1, 0.1, 0.8]], dtype=torch.float64)
    for uniforms in ([0.7, 0.4, 0.5], [0.7, 0.6, 0.2], [0.9, 0.1, 0.5]):
        check(tokens, draft, target, torch.tensor(uniforms, dtype=torch.float64))


@pytest.mark.parametrize("kept", [1, 0])
def test_one_draft(check, rng, kept):
    """A single draft, accepted and then one more token, or rejected and replaced."""
    for _ in range(3):
        check(*scene(rng, kept, drafts=1))


@pytest.mark.parametrize("kept", [0, 1, 2, 3])
def test_the_first_rejection(check, rng, kept):
    """Four drafts, one of which is the first to be rejected: what comes before stays, a drawn token follows."""
    for _ in range(3):
        check(*scene(rng, kept))


def test_all_are_accepted(check, rng):
    """The pass of the large model has scored one more place: its token comes for free."""
    for drafts in (4, 2, 6):
        check(*scene(rng, drafts, drafts))


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_what_lies_behind_a_rejection(check, rng, kept):
    """The drafts behind the rejected one would all be accepted: they are built on a token that is not there."""
    for _ in range(2):
        check(*scene(rng, kept, drafts=6, behind=0.0))


def test_a_draft_that_the_target_likes_better(check, rng):
    """Where the target gives a draft more than the small model, any uniform accepts it."""
    for _ in range(3):
        q, p = rows(rng, 3, 5), rows(rng, 4, 5)
        tokens = (p[:3] - q).argmax(1)
        u = torch.tensor([0.97, 0.96, 0.98, 0.0], dtype=torch.float64)
        u[3] = (p[3].cumsum(0)[1] + p[3].cumsum(0)[2]) / 2
        check(tokens, q, p, u)


def test_a_draft_that_is_not_the_best_one(check, rng):
    """Another token is more probable to both models: that is no reason to reject."""
    likely, rare = torch.tensor([40.0, 12, 8, 4]) / TOTAL, torch.tensor([30.0, 20, 10, 4]) / TOTAL
    for order in (rng.permutation(4), rng.permutation(4), rng.permutation(4)):
        q, p = likely[order].double().expand(3, 4), rare[order].double().expand(4, 4)
        tokens = torch.stack([(order == rank).nonzero()[0, 0] for rank in (3, 2, 1)])
        check(tokens, q, p, torch.tensor([0.9, 0.9, 0.9, 0.99], dtype=torch.float64))


def test_the_same_distribution(check, rng):
    """A small model that agrees with the large one: nothing is rejected."""
    p = rows(rng, 5, 6)
    tokens = rng.integers(0, 6, 4)
    room = (p[4].cumsum(0)[2] + p[4].cumsum(0)[3]) / 2
    check(tokens, p[:4].clone(), p, torch.cat([torch.full((4,), 0.97, dtype=torch.float64), room.view(1)]))


def test_distributions_without_a_common_token(check, rng):
    """The first draft is never accepted, and the token comes from all of the target."""
    for _ in range(3):
        order = rng.permutation(8)
        q, p = torch.zeros(2, 8, dtype=torch.float64), torch.zeros(3, 8, dtype=torch.float64)
        q[:, order[:4]], p[:, order[4:]] = rows(rng, 2, 4), rows(rng, 3, 4)
        second = p[0].cumsum(0).unique()[1:3].mean()  # 0 is the first of the sums, unless id 0 has a share
        check(order[:2], q, p, torch.stack([second * 0 + 0.5, second * 0 + 0.5, second]))


def test_a_draft_that_the_target_rules_out(check, rng):
    """The target gives a draft no probability: it is rejected, whatever the uniform is, exactly 0 included."""
    for u in (0.0, 0.01, 0.9):
        q, p = torch.full((2, 4), 0.25, dtype=torch.float64), torch.zeros(3, 4, dtype=torch.float64)
        order = rng.permutation(4)
        p[:, order[1:]] = torch.tensor([0.25, 0.25, 0.5], dtype=torch.float64)
        check(order[:1].repeat(2), q, p, torch.tensor([u, 0.0, 0.5], dtype=torch.float64))
        check(order[[1, 0]], q, p, torch.tensor([0.5, u, 0.5], dtype=torch.float64))
        many, uniforms = order[[1, 2, 3, 1, 0, 2]], torch.tensor([0.5] * 4 + [u, 0.5, 0.5], dtype=torch.float64)
        check(many, q[:1].expand(6, -1), p[:1].expand(7, -1), uniforms)


def test_the_uniform_that_draws_is_zero(check):
    """The first ids have no weight: the lowest one that has some is drawn, of few ids and of many."""
    q, p = torch.zeros(2, 6, dtype=torch.float64), torch.zeros(3, 6, dtype=torch.float64)
    q[:, :3] = torch.tensor([0.5, 0.25, 0.25])
    p[:, 2:] = torch.tensor([0.25, 0.25, 0.375, 0.125])
    for uniforms in ([0.5, 0.5, 0.0], [0.0, 0.0, 0.0]):
        check(
            torch.tensor([0, 1]), q, p, torch.tensor(uniforms, dtype=torch.float64)
        )  # from what is left of the target
        check(torch.tensor([2, 2]), q, p, torch.tensor(uniforms, dtype=torch.float64))  # from the target's last row
    check(torch.tensor([2]), q[:1], p[[0, 1]].flip(1), torch.tensor([0.5, 0.0], dtype=torch.float64))
    many = torch.arange(1001, dtype=torch.float64).clamp(max=1).view(1, 1001)
    check(torch.zeros(0, dtype=torch.int64), many[:0], many, torch.zeros(1, dtype=torch.float64))


def test_the_uniform_that_draws_is_nearly_one(check):
    """The last ids have no weight: the highest one that has some is drawn."""
    q, p = torch.zeros(2, 6, dtype=torch.float64), torch.zeros(3, 6, dtype=torch.float64)
    q[:, 3:] = torch.tensor([0.5, 0.25, 0.25])
    p[:, :4] = torch.tensor([0.125, 0.375, 0.25, 0.25])
    for tokens, last in (([5, 4], 0.96), ([3, 3], 0.97)):
        check(torch.tensor(tokens), q, p, torch.tensor([0.4, 0.4, last], dtype=torch.float64))


def test_what_is_left_adds_up_to_little(check, rng):
    """The models hardly differ, so that the weights of what is left add up to far less than 1."""
    q = torch.tensor([[16.0, 16, 16, 16]], dtype=torch.float64) / TOTAL
    p = torch.tensor([[13.0, 17, 17, 17], [16, 16, 16, 16]], dtype=torch.float64) / TOTAL
    for last in (0.17, 0.5, 0.83):
        order = rng.permutation(4)
        u = torch.tensor([0.93, last], dtype=torch.float64)
        check((order == 0).nonzero()[0], q[:, order], p[:, order], u)


@pytest.mark.parametrize("vocab", [5, 3])
def test_no_draft(check, rng, vocab):
    """K is 0: one token, drawn from the only row of the target."""
    nothing = torch.zeros(0, dtype=torch.int64)
    for place in range(vocab):
        p = rows(rng, 1, vocab)
        edges = torch.cat([torch.zeros(1, dtype=torch.float64), p[0].cumsum(0)])
        u = (edges[place] + edges[place + 1]).view(1) / 2
        check(nothing, torch.zeros(0, vocab, dtype=torch.float64), p, u)


def test_a_vocabulary_of_one_and_two(check):
    """There is one token only, and then a single other one to replace it."""
    one = torch.ones(3, 1, dtype=torch.float64)
    check(torch.tensor([0, 0]), one[:2], one, torch.tensor([0.9, 0.2, 0.9], dtype=torch.float64))
    q = torch.tensor([[0.75, 0.25], [0.5, 0.5]], dtype=torch.float64)
    p = torch.tensor([[0.25, 0.75], [0.125, 0.875], [0.5, 0.5]], dtype=torch.float64)
    for tokens, uniforms in (([0, 0], [0.2, 0.4, 0.9]), ([0, 1], [0.5, 0.1, 0.1]), ([1, 1], [0.9, 0.9, 0.3])):
        check(torch.tensor(tokens), q, p, torch.tensor(uniforms, dtype=torch.float64))


def test_as_many_drafts_as_tokens(check, rng):
    """K == V, where a wrong axis does not show in the shape."""
    for kept in (0, 2, 5):
        check(*scene(rng, kept, drafts=5, vocab=5))


def test_the_same_draft_several_times(check):
    """A model that repeats itself: each place has probabilities of its own."""
    q = torch.tensor([[0.5, 0.25, 0.25]] * 3, dtype=torch.float64)
    p = torch.tensor([[0.375, 0.25, 0.375], [0.25, 0.25, 0.5], [0.125, 0.5, 0.375], [0.25] * 2 + [0.5]])
    for uniforms in ([0.6, 0.6, 0.6, 0.9], [0.6, 0.4, 0.3, 0.2], [0.6, 0.4, 0.2, 0.4], [0.9, 0.1, 0.1, 0.3]):
        check(torch.zeros(3, dtype=torch.int64), q, p.double(), torch.tensor(uniforms, dtype=torch.float64))


def test_views(check, rng):
    """Probabilities that are a transposed view, one distribution for all places, every other uniform."""
    tokens, q, p, u = scene(rng, 2)
    check(tokens, q.t().contiguous().t(), p.t().contiguous().t(), u)
    tokens, q, p, u = scene(rng, 1, drafts=2)
    check(tokens.repeat_interleave(2)[::2], q, p, u.repeat_interleave(2)[::2])
    target = torch.tensor([0.125, 0.5, 0.375], dtype=torch.float64)
    draft = torch.tensor([0.5, 0.25, 0.25], dtype=torch.float64)
    uniforms = torch.tensor([0.9, 0.6, 0.9, 0.8], dtype=torch.float64)
    check(torch.tensor([1, 0, 2]), draft.expand(3, 3), target.expand(4, 3), uniforms)


@pytest.mark.derive("dtype")
def test_digits_of_double_precision(check):
    """In float64 a ratio is met or missed by a billionth, and so is a sum, of few weights or of many."""
    little = 2.0**-30 if check.dtype == torch.float64 else 0.125
    q = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64)
    p = torch.tensor([[0.25, 0.25, 0.5], [0.25, 0.5, 0.25]], dtype=torch.float64)
    for first, last in ((0.5 - little, 0.25 - little), (0.5 - little, 0.25 + little), (0.5 + little, 0.5)):
        check(torch.tensor([0]), q, p, torch.tensor([first, last], dtype=torch.float64))
    for vocab in (2, 1001):
        p, nothing = torch.zeros(1, vocab, dtype=torch.float64), torch.zeros(0, dtype=torch.int64)
        p[0, 0], p[0, 1] = 1.0, little
        check(nothing, p[:0], p, torch.tensor([1 - little / 8], dtype=torch.float64))


@without_dtype
def test_a_vocabulary_of_a_thousand(check, rng):
    """Many tokens with a small share each: the sum runs over all of them."""
    q = torch.softmax(rng.normal(3, 1200), dim=-1)
    p = torch.softmax(rng.normal(4, 1200), dim=-1)
    tokens = 1010 + (q - p[:3])[:, 1010:].argmax(1)
    ratios = p[:3].gather(1, tokens[:, None])[:, 0] / q.gather(1, tokens[:, None])[:, 0]
    for kept in (0, 2, 3):
        u = ratios * 0.5
        weights = p[3] if kept == 3 else (p[kept] - q[kept]).clamp(min=0)
        if kept < 3:
            u[kept] = (1 + ratios[kept]) / 2
        sums = weights.cumsum(0) / weights.sum()
        heavy = 600 + int(weights[600:].argmax())
        check(tokens, q, p, torch.cat([u, (sums[heavy - 1] + sums[heavy]).view(1) / 2]))


@pytest.mark.contract
@pytest.mark.parametrize("kept", [0, 2, 3])
def test_everything_is_left_alone(check, rng, kept):
    """Both models' probabilities are still needed, and so are the drafts: nothing is written into them."""
    check(*scene(rng, kept, drafts=3))


@pytest.mark.derive("dtype")
def test_rows_of_different_sums(check):
    """A row of the target adds up to less than that of the draft, or to more: the ratio is of the given numbers."""
    q = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64)
    behind = torch.tensor([[0.25, 0.25, 0.5]], dtype=torch.float64)
    less, more = ([[0.25, 0.5, 0.125]], [[0.25, 0.5, 0.5]])
    for row, u in ((less, 0.53125), (more, 0.4375)):
        p = torch.cat([torch.tensor(row, dtype=torch.float64), behind])
        check(torch.tensor([0]), q, p, torch.tensor([u, 0.375], dtype=torch.float64))


def test_a_rejection_with_rows_of_different_sums(check):
    """What is left of p is p less q, whatever either adds up to: here the two halves of it are equal."""
    q = torch.tensor([[0.5, 0.25, 0.125, 0.125]], dtype=torch.float64)
    p = torch.tensor([[0.0, 0.3125, 0.1875, 0.0], [0.25, 0.25, 0.25, 0.25]], dtype=torch.float64)
    for u in (0.4375, 0.5625):
        check(torch.tensor([0]), q, p, torch.tensor([0.5, u], dtype=torch.float64))


@pytest.mark.precise
@pytest.mark.derive
def test_many_tokens_of_hardly_any_weight(check):
    """Two thousand tokens share less than a thousandth: one of them is drawn all the same."""
    row = torch.full((1, 2001), 4e-7, dtype=torch.float64)
    row[0, -1] = 1.0
    nothing = torch.zeros(0, dtype=torch.int64), torch.zeros(0, 2001, dtype=torch.float64)
    check(*nothing, row, torch.tensor([0.0004], dtype=torch.float64))


@pytest.mark.precise
@pytest.mark.derive("device")
@pytest.mark.parametrize("scale", [1e-12, 0.125, 1e12])
def test_weights_of_any_sum(check, rng, scale):
    """Rows that add up to something else, the last one too: only shares count."""
    for kept in (0, 2, 4):
        tokens, q, p, u = scene(rng, kept)
        check(tokens, scale * q, scale * p, u)
    tokens, q, p, u = scene(rng, 4)
    check(tokens, q, torch.cat([p[:-1], scale * p[-1:]]), u)


@pytest.mark.derive("dtype")
def test_a_vocabulary_of_forty_thousand(check, rng):
    """Ids beyond sixteen bits, and the very last one."""
    vocab = 40_000
    for token in (39_999, 32_768, 70):
        p = torch.zeros(2, vocab, dtype=torch.float64)
        p[1, token], p[0, 33_000] = 1.0, 1.0
        q = torch.full((1, vocab), 1.0 / vocab, dtype=torch.float64)
        check(torch.tensor([33_000]), q, p, rng.uniform(2, low=0.1, high=0.9))
        check(torch.tensor([5]), q, p, rng.uniform(2, low=0.1, high=0.9))


@pytest.mark.precise
@pytest.mark.derive
def test_other_sizes(check, rng):
    """Many drafts, many tokens, one of each; sizes that agree: no rule changes."""
    check(*scene(rng, 9, drafts=9, vocab=9))
    check(*scene(rng, 1, drafts=1, vocab=1 + 2))
    repeated = torch.full((1100, 2), 0.5, dtype=torch.float64)
    check(
        torch.tensor([1, 0] * 550), repeated, torch.cat([repeated, repeated[:1]]), rng.uniform(1101, low=0.6, high=0.9)
    )
    drafts, vocab = 300, 12
    q, p = rows(rng, drafts, vocab), rows(rng, drafts + 1, vocab)
    tokens = (p[:drafts] - q).argmax(1)
    uniforms = rng.uniform(drafts + 1, low=0.1, high=0.9)
    uniforms[-1] = (p[drafts].cumsum(0)[5] + p[drafts].cumsum(0)[6]) / 2
    check(tokens, q, p, uniforms)
    for place in (290, 70):
        tokens, u = tokens.clone(), uniforms.clone()
        tokens[place] = int((p[place] - q[place]).argmin())
        u[place] = (1 + p[place, tokens[place]] / q[place, tokens[place]]) / 2
        weights = (p[place] - q[place]).clamp(min=0)
        best = int(weights.argmax())
        u[-1] = (weights.cumsum(0)[best] - weights[best] / 2) / weights.sum()
        check(tokens, q, p, u)
