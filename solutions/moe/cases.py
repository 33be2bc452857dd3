"""Hidden cases of moe."""

import math

import pytest
import torch

from grader.kit.digits import keeps_digits

HEIGHT = 1.5
"""Scores of a router that `routed` makes lie about so far apart."""


def routed(rng, n_experts, k, *shape):
    """Draw a router's weights and tokens (*shape, d_model), no choice of which is close: half precision agrees."""
    width = shape[-1]
    weight = rng.normal(n_experts, width, scale=HEIGHT / width**0.5)
    count = torch.Size(shape[:-1]).numel()
    found = []
    while sum(map(len, found)) < count:
        tokens = rng.normal(8 * count + 64, width)
        scores = (tokens @ weight.T).sort(dim=-1, descending=True).values
        clear = torch.ones(len(tokens), dtype=torch.bool)
        if k < n_experts:
            clear = scores[:, k - 1] - scores[:, k] > 0.15
        found.append(tokens[clear])
    return weight, torch.cat(found)[:count].view(*shape)


def built(check, rng, d_ff, n_experts, k, *shape):
    """Build the layer with a router whose choices for these tokens are clear; returns both."""
    weight, x = routed(rng, n_experts, k, *shape)
    return check.module(shape[-1], d_ff, n_experts, k).set(router__weight=weight), x


def whole(rng, low, high, *shape):
    """Draw whole numbers as floats: sums of a few products of them are exact in every dtype."""
    return rng.integers(low, high, *shape).double()


@pytest.mark.derive("dtype", "device", "contract")  # a hidden unit is exactly 0, where a ReLU has two slopes
def test_by_hand(check):
    """The example of the task: three experts, each a multiple of a ReLU."""
    moe, unit = check.module(d_model=2, d_ff=2, n_experts=3, k=2), torch.eye(2)
    moe.set(router__weight=torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]))
    for e in range(3):
        weights = {"dense1__weight": unit, "dense1__bias": torch.zeros(2), "dense2__bias": torch.zeros(2)}
        moe.set(**{f"experts__{e}__{name}": value for name, value in weights.items()})
        moe.set(**{f"experts__{e}__dense2__weight": (e + 1) * unit})
    moe(torch.tensor([[2.0, 1.0], [0.0, 3.0], [-3.0, 1.0]]))


def test_one_token(check, rng):
    """The smallest call: a single token chooses between two experts."""
    moe, x = built(check, rng, 3, 2, 1, 1, 1, 4)
    moe(x)


@pytest.mark.parametrize(("n_experts", "k"), [(4, 2), (3, 1), (5, 3), (8, 2), (7, 6)])
def test_experts_and_choices(check, rng, n_experts, k):
    """More experts or fewer, one choice or several: a batch of sequences."""
    moe, x = built(check, rng, 9, n_experts, k, 3, 5, 6)
    moe(x)


def test_sizes_that_agree(check, rng):
    """B == S == d_model == d_ff == n_experts, where a wrong axis does not show in the shape."""
    moe, x = built(check, rng, 4, 4, 2, 4, 4, 4)
    moe(x)


@pytest.mark.parametrize("shape", [(6,), (4, 6), (2, 3, 4, 6)], ids=str)
def test_any_leading_axes(check, rng, shape):
    """One token, a list of tokens, axes in between: each token is routed by itself."""
    moe, x = built(check, rng, 5, 4, 2, *shape)
    moe(x)


def test_a_single_choice(check, rng):
    """k = 1: the chosen expert has the whole weight, however probable it was."""
    moe, x = built(check, rng, 8, 5, 1, 2, 6, 6)
    moe(x)


def test_all_experts(check, rng):
    """k = n_experts: nothing is left out, and the weights are all probabilities."""
    for n_experts in (3, 1, 2):
        moe, x = built(check, rng, 8, n_experts, n_experts, 2, 4, 6)
        moe(x)


def test_every_expert_has_its_own_biases(check, rng):
    """Biases as large as what they are added to: an expert that gets a token of zeros answers, too."""
    moe, x = built(check, rng, 5, 4, 2, 2, 5, 6)
    for e in range(4):
        biases = {"dense1__bias": rng.normal(5, scale=2.0), "dense2__bias": rng.normal(6, scale=3.0) + 2 * e}
        moe.set(**{f"experts__{e}__{name}": value for name, value in biases.items()})
    moe(x)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_equal_scores(check, rng, k):
    """Some experts have the very same score: those of lower index are chosen."""
    weight = whole(rng, -2, 3, 5, 4)
    weight[3], weight[4], weight[1] = weight[0], weight[0], weight[2]
    moe = check.module(4, 6, 5, k).set(router__weight=weight)
    moe(whole(rng, 1, 4, 2, 6, 4))


def test_a_router_that_knows_nothing(check, rng):
    """All scores are 0, so that every token goes to the first experts."""
    moe = check.module(5, 6, 4, 2).set(router__weight=torch.zeros(4, 5))
    moe(rng.normal(2, 3, 5))
    many = check.module(3, 4, 24, 5).set(router__weight=torch.zeros(24, 3))
    many(rng.normal(2, 3, 3))


@pytest.mark.large
@pytest.mark.precise
@pytest.mark.derive
def test_hundreds_of_experts(check, rng):
    """Three hundred experts in a circle: each token points between two of them, nearer to one."""
    turn = 2 * math.pi / 300
    angles = turn * torch.arange(300, dtype=torch.float64)
    weight = 10 * torch.stack([angles.cos(), angles.sin()], dim=-1)
    chosen = torch.cat([torch.tensor([299, 257, 256, 128, 64, 0]), rng.permutation(300)[:40]])
    angles = turn * (chosen.double() + 0.3)
    check.module(2, 2, 300, 2).set(router__weight=weight)(torch.stack([angles.cos(), angles.sin()], dim=-1))


@pytest.mark.derive("dtype")
def test_a_thousand_tokens_for_one_expert(check, rng):
    """A long batch, and one expert that takes nearly all of it: none of its tokens is dropped, each one is counted."""
    x = rng.normal(2, 600, 2)
    x[..., 0] = 1.0
    x[:, 7, 0] = -1.0
    weight = torch.tensor([[-12.0, 0.0], [12.0, 0.0], [0.0, 0.0]], dtype=torch.float64)
    moe = check.module(2, 3, 3, 1).set(router__weight=weight)
    moe.train()(x)
    moe.eval()(x)


def test_one_expert_for_all(check, rng):
    """A router that has collapsed: one expert gets all tokens, the others none. The balance loss is at its height."""
    for favourite in (2, 0, 3):
        weight = whole(rng, -1, 2, 4, 5)
        weight[:, 0] = 0.0
        weight[favourite, 0] = 12.0
        x = whole(rng, -1, 2, 3, 4, 5)
        x[..., 0] = 1.0
        check.module(5, 6, 4, 1).set(router__weight=weight)(x)


def test_an_expert_that_nobody_chooses(check, rng):
    """Two of four experts stay without a token: they leave no trace and no NaN."""
    weight = torch.zeros(4, 5, dtype=torch.float64)
    weight[:, 0] = torch.tensor([4.0, -4.0, 2.0, -6.0])
    weight[:, 1] = torch.tensor([0.0, 1.0, 0.5, 0.0])
    x = rng.normal(2, 4, 5)
    x[..., 0], x[..., 1] = 1.0, whole(rng, -1, 2, 2, 4)
    check.module(5, 6, 4, 2).set(router__weight=weight)(x)


def test_the_balance_of_even_and_uneven_choices(check, rng):
    """Each token names its experts: once all are used alike, then some more than others."""
    for counts in ((3, 3, 3, 3), (6, 3, 2, 1), (1, 0, 10, 1)):
        order = torch.tensor([e for e, count in enumerate(counts) for _ in range(count)])[rng.permutation(12)]
        x = torch.nn.functional.one_hot(order, 4).double() + 0.25 * whole(rng, 0, 2, 12, 4)
        for k in (1, 3):
            weight = 2 * torch.eye(4, dtype=torch.float64)
            weight[:, 0] += torch.tensor([0.0, 1.0, 1.0, 0.0])
            check.module(4, 6, 4, k).set(router__weight=weight)(x)


def test_scores_of_ten_thousand(check, rng):
    """The best scores lie thousands apart: a weight of exactly 1, exactly 0, and no NaN."""
    signs = whole(rng, 0, 2, 4, 6) * 2 - 1
    moe = check.module(6, 5, 4, 2).set(router__weight=4096.0 * signs)
    x = whole(rng, 0, 2, 2, 3, 6) * 2 - 1
    x[..., 0] = 2.0
    moe(x)
    moe(-x)


def test_scores_far_below_zero(check, rng):
    """All scores are deeply negative; only their differences count."""
    weight = torch.zeros(4, 6, dtype=torch.float64)
    weight[:, 0] = -4096.0 - 32.0 * rng.permutation(4)
    weight[:, 1] = 32.0 * rng.permutation(4)
    x = rng.normal(2, 3, 6)
    x[..., 0], x[..., 1] = 1.0, whole(rng, 0, 2, 2, 3)
    check.module(6, 5, 4, 3).set(router__weight=weight)(x)


@pytest.mark.derive("device", "contract")
def test_near_ties_at_large_scores(check, rng):
    """Scores around 8192 that differ by a half or one: the weights keep their digits."""
    weight = torch.zeros(5, 3, dtype=torch.float64)
    weight[:, 0] = 8192.0 + rng.permutation(5) / 2
    x = rng.normal(2, 4, 3)
    x[..., 0] = 1.0
    check.module(3, 6, 5, 3).set(router__weight=weight)(x)


def test_transposed_input(check, rng):
    """Tokens that were length first are a view, not a copy; so are features that lie apart."""
    moe, x = built(check, rng, 7, 4, 2, 4, 3, 6)
    moe(x.transpose(0, 1).contiguous().transpose(0, 1))
    moe(x.transpose(1, 2).contiguous().transpose(1, 2))
    moe(x[:, 1:2].expand(4, 3, 6))


def test_the_layer_is_used_twice(check, rng):
    """Batches of other sizes: nothing is kept from one call to the next."""
    moe, x = built(check, rng, 7, 4, 2, 4, 3, 6)
    for part in (x, x[:1], x[2:, :2], x):
        moe(part)


def test_order_of_tokens(check, rng):
    """Tokens in another order: the same results in that order, and the same balance."""
    moe, x = built(check, rng, 7, 4, 2, 8, 6)
    order = rng.permutation(8)
    first, second = moe(x), moe(x[order])
    check.close(second[0], first[0].got[order], "a token gets another output where its neighbours have changed")


def test_training_mode_computes_the_same(check, rng):
    """There is no noise and no dropout in this layer."""
    moe, x = built(check, rng, 7, 4, 2, 2, 5, 6)
    moe.train()(x)


def test_digits_of_double_precision(check, rng):
    """In float64 the scores lie around a million and differ by a third: the weights must not lose these digits."""
    height = 1e6 if check.dtype == torch.float64 else 1.0
    weight = torch.zeros(4, 3, dtype=torch.float64)
    weight[:, 0] = height + rng.permutation(4).double() / 3
    x = rng.normal(2, 4, 3)
    x[..., 0] = 1.0
    result = check.module(3, 6, 4, 2).set(router__weight=weight)(x)
    fine = check.dtype != torch.float64 or keeps_digits(result)
    check.that(fine, "a float64 result is right to seven digits only: something went through float32")


@pytest.mark.grad
def test_the_loss_alone_teaches_the_router(check, rng):
    """k = 1: the weight is 1 whatever the router says, so that its gradient comes from the balance loss."""
    moe, x = built(check, rng, 7, 4, 1, 3, 5, 6)
    _, balance_loss = moe(x)
    check.that(balance_loss.carries_gradient, "no gradient passes through the balance loss")


@pytest.mark.grad
def test_gradients_where_experts_stay_unused(check, rng):
    """Tokens, the router and the experts in use get their gradients, without a NaN; the others get none."""
    weight = torch.zeros(5, 4, dtype=torch.float64)
    weight[:, 0] = torch.tensor([1.0, -2.0, 3.0, -4.0, 2.0])
    x = rng.normal(2, 3, 4)
    x[..., 0] = 1.0
    check.module(4, 6, 5, 2).set(router__weight=weight)(x)


@pytest.mark.contract
@pytest.mark.parametrize(("n_experts", "k"), [(4, 5), (1, 2), (4, 0), (3, -1)])
def test_more_choices_than_experts(check, n_experts, k):
    """As many experts as a token needs must be there, and a token needs one at least."""
    with check.raises(ValueError):
        check.module(4, 6, n_experts, k)


@pytest.mark.contract
def test_weights_are_loaded_between_calls(check, rng):
    """Another router, then other experts: the next call goes by what is there now."""
    moe, x = built(check, rng, 5, 3, 1, 4, 6)
    moe(x)
    weight = torch.zeros(3, 6, dtype=torch.float64)
    weight[1, 0], weight[2, 0] = 2.0, -2.0
    x = torch.cat([torch.tensor([[1.0], [-1.0], [2.0], [-2.0]], dtype=torch.float64), rng.normal(4, 5)], dim=1)
    moe.set(router__weight=weight)(x)
    moe.set(experts__1__dense1__weight=rng.normal(5, 6), experts__2__dense2__bias=rng.normal(6))(x)


def counted(check, rng, repeats, n_experts=8):
    """Count what 16 tokens, repeated, cost with eight experts of which each token needs two."""
    weight, x = routed(rng, n_experts, 2, 16, 16)
    moe = check.module(16, 64, n_experts, 2).set(router__weight=weight)
    return moe.run(x.repeat(repeats, 1)[None]).cost


@pytest.mark.cost
def test_an_expert_runs_on_its_tokens_only(check, rng):
    """Eight experts, two for each token: the work is that of two."""
    cost, tokens = counted(check, rng, 6), 96
    allowed = 1.5 * tokens * (8 * 16 + 2 * 2 * 16 * 64)
    check.at_most(cost.madds, allowed, "the layer does more than its share of multiply-adds")


@pytest.mark.cost
def test_work_does_not_grow_with_the_experts(check, rng):
    """Thirty-two experts, two for each token."""
    cost, tokens = counted(check, rng, 4, 32), 64
    allowed = 1.5 * tokens * (32 * 16 + 2 * 2 * 16 * 64)
    check.at_most(cost.madds, allowed, "the layer does more than its share of multiply-adds")


@pytest.mark.cost
def test_a_crowded_expert_is_not_the_measure_of_all(check, rng):
    """One expert gets nearly all tokens: the others are not padded to its number."""
    weight = torch.zeros(8, 16, dtype=torch.float64)
    weight[:, 0] = torch.arange(8, 0, -1)
    x = rng.normal(96, 16)
    x[:, 0] = 1.0
    x[0, 0] = -1.0
    cost = check.module(16, 64, 8, 1).set(router__weight=weight).run(x).cost
    allowed = 1.5 * 96 * (8 * 16 + 2 * 16 * 64)
    check.at_most(cost.madds, allowed, "the layer does more than its share of multiply-adds")


@pytest.mark.cost
def test_no_loop_over_tokens(check, rng):
    """Three times as many tokens, the same number of operations; a loop over experts is fine."""
    weight, x = routed(rng, 4, 2, 16, 8)
    moe = check.module(8, 16, 4, 2).set(router__weight=weight)
    small, large = moe.run(x).cost, moe.run(x.repeat(3, 1)).cost
    check.no_loop(small, large, 32, "a Python loop goes over the tokens")


@pytest.mark.cost
def test_no_weights_for_each_token(check, rng):
    """The weights of an expert are read by all its tokens together, not copied for each of them."""
    cost = counted(check, rng, 6)
    limit = 2 * 96 * 2 * 64 + 8 * 16 * 64
    check.at_most(cost.biggest, limit, "an expert's weights are copied for each token", cost.biggest_line)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, many, one; sizes that agree, large numbers: no rule changes."""
    for d_ff, n_experts, k, *shape in (
        (1, 1, 1, 1),
        (3, 2, 2, 9, 1, 3),
        (80, 12, 2, 20, 70),
        (5, 9, 9, 9, 2, 2, 3),
        (5, 30, 3, 1, 2, 12),
        (6, 3, 1, 300, 4),
        (3, 3, 2, 3, 3, 3, 3),
        (4, 3, 2, 1, 2, 3, 5),
    ):
        moe, x = built(check, rng, d_ff, n_experts, k, *shape)
        moe(x)
    moe(3e4 * x)
