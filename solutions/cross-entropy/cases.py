"""Hidden cases of cross-entropy."""

import pytest
import torch

from grader.kit.digits import keeps_digits


def ignoring(targets, counted, number=-100):
    """Put a number in the place of the targets that do not count."""
    return torch.where(counted, targets, number)


def far_apart(rng, *sizes):
    """Draw five logits for each token, from -19,000 to 19,000, no two within 2,000.

    Where two are near, torch.logsumexp itself rounds its gradient to the last digit of the logits.
    """
    ranks = rng.normal(*sizes, 5).argsort(dim=-1) - 2.0
    return 8e3 * ranks + rng.uniform(*sizes, 5, low=-3e3, high=3e3)


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    logits = torch.tensor([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], [3.0, 1.0, 1.0]])
    targets = torch.tensor([1, 2, -100])
    check(logits, targets)
    check(logits, targets, label_smoothing=0.1)


def test_one_token(check, rng):
    """The smallest call: the surprise of one token."""
    check(rng.normal(1, 4), rng.integers(0, 4, 1))


def test_a_batch_of_sequences(check, rng):
    """(B, S, V) and (B, S): the classes are on the last axis, the mean is over all tokens."""
    check(rng.normal(2, 3, 5), rng.integers(0, 5, 2, 3))


@pytest.mark.parametrize("shape", [(), (4,), (2, 3, 4)])
def test_any_leading_axes(check, rng, shape):
    """One token without any axis, one axis, three of them."""
    check(rng.normal(*shape, 6), rng.integers(0, 6, *shape))


def test_axes_of_one_size(check, rng):
    """B == S == V, where a wrong axis does not show in the shape."""
    check(rng.normal(4, 4, 4), rng.integers(0, 4, 4, 4))


def test_few_classes(check, rng):
    """Two classes; and one alone, which is no surprise."""
    check(rng.normal(3, 5, 2), rng.integers(0, 2, 3, 5))
    check(rng.normal(3, 5, 1), rng.integers(0, 1, 3, 5))


def test_transposed_logits(check, rng):
    """Views: logits whose classes do not lie side by side, every other target."""
    check(rng.normal(2, 5, 3).transpose(1, 2), rng.integers(0, 5, 2, 3))
    check(rng.normal(2, 4, 10)[..., ::2], rng.integers(0, 5, 4, 2).transpose(0, 1))
    check(rng.normal(2, 4, 5), rng.integers(0, 5, 2, 8)[:, ::2])


def test_targets_that_do_not_count(check, rng):
    """-100 has no part in the mean: neither in the sum nor in the number of tokens."""
    check(rng.normal(3, 6, 5), ignoring(rng.integers(0, 5, 3, 6), rng.keep(3, 6)))


def test_rows_with_different_numbers_of_tokens(check, rng):
    """One sequence counts whole, one by a single token, one not at all: every token has the same weight."""
    counted = torch.arange(5) < torch.tensor([[5], [1], [0]])
    check(rng.normal(3, 5, 4), ignoring(rng.integers(0, 4, 3, 5), counted))


@pytest.mark.parametrize("number", [0, 3, 5, 300])
def test_another_number_to_ignore(check, rng, number):
    """A class that is not counted, such as padding, still has a part in the softmax; or a number beyond all classes."""
    targets = ignoring(rng.integers(0, 5, 3, 6), rng.keep(3, 6), number)
    check(rng.normal(3, 6, 5), targets, ignore_index=number)


def test_a_negative_number_to_ignore(check, rng):
    """-1, as the third argument."""
    check(rng.normal(2, 6, 5), ignoring(rng.integers(0, 5, 2, 6), rng.keep(2, 6), -1), -1)


def test_the_number_to_ignore_does_not_occur(check, rng):
    """Nothing is left out: class 0 counts unless somebody says otherwise."""
    check(rng.normal(2, 6, 3), rng.integers(0, 3, 2, 6))
    check(rng.normal(2, 6, 3), rng.integers(0, 3, 2, 6), ignore_index=7)


@pytest.mark.parametrize("shape", [(2, 3), (1,), ()])
def test_nothing_counts(check, rng, shape):
    """All targets are ignored: the loss is 0, and so are the gradients."""
    check(rng.normal(*shape, 4), torch.full(shape, -100))
    check(rng.normal(*shape, 4), torch.full(shape, -100), label_smoothing=0.2)


@pytest.mark.grad
def test_nothing_counts_and_backward(check, rng):
    """A batch of padding amid others: its loss is 0, and `backward()` of it works like any other."""
    loss = check(rng.normal(2, 3, 4), torch.full((2, 3), -100))
    learns = loss.carries_gradient or not check.variant.grad
    check.that(learns, "the loss of a batch in which nothing counts has no graph: backward() raises")


@pytest.mark.parametrize("smoothing", [0.1, 0.5, 1.0])
def test_label_smoothing(check, rng, smoothing):
    """A share of each target goes to all classes alike, the right one among them."""
    check(rng.normal(2, 4, 5, scale=2.0), rng.integers(0, 5, 2, 4), label_smoothing=smoothing)


def test_label_smoothing_and_targets_that_do_not_count(check, rng):
    """What is ignored has no part in the share of the other classes either; all arguments by position."""
    targets = ignoring(rng.integers(0, 7, 3, 5), rng.keep(3, 5), 2)
    check(rng.normal(3, 5, 7), targets, 2, 0.3)


def test_large_logits(check, rng):
    """Logits of tens of thousands: no infinity, no NaN, whatever the probability of the target."""
    logits = far_apart(rng, 2, 6)
    check(logits, rng.integers(0, 5, 2, 6))
    check(logits, rng.integers(0, 5, 2, 6), label_smoothing=0.1)


def test_a_class_without_a_chance(check, rng):
    """The target lies far below the others: its surprise is as large as the distance."""
    logits = rng.normal(4, 6)
    targets = rng.integers(0, 6, 4)
    check(logits.scatter(-1, targets[:, None], -300.0), targets)


@pytest.mark.derive("grad", "device")
def test_one_class_alone(check, rng):
    """A single class: no surprise, and a gradient of 0 for its logits."""
    loss = check(rng.normal(3, 5, 1), ignoring(rng.integers(0, 1, 3, 5), rng.keep(3, 5)))
    learns = loss.carries_gradient or not check.variant.grad
    check.that(learns, "the loss over a single class has no graph: backward() raises")


@pytest.mark.precise
@pytest.mark.derive("grad")
@pytest.mark.parametrize("smoothing", [0.0625, 0.003, 1e-6, 0.98765])
def test_any_share_of_label_smoothing(check, rng, smoothing):
    """A share may be a thousandth or have many digits: it is the number that was given."""
    check(rng.normal(2, 4, 5, scale=2.0), rng.integers(0, 5, 2, 4), label_smoothing=smoothing)


@pytest.mark.derive("dtype")
def test_nothing_counts_however_large_the_logits(check, rng):
    """A batch of padding whose logits no half could sum up: the loss is 0 all the same."""
    check(rng.uniform(3, 5, low=2e4, high=6e4), torch.full((3,), -100))
    check(-rng.uniform(3, 5, low=2e4, high=6e4), torch.full((3,), -100), label_smoothing=0.2)


@pytest.mark.derive("dtype")
def test_more_tokens_than_a_half_can_count(check, rng):
    """Seventy thousand tokens, as many as a large batch has: their number is beyond float16 and sixteen bits."""
    targets = ignoring(rng.integers(0, 2, 70_001), torch.arange(70_001) % 100 != 7)
    check(rng.normal(70_001, 2), targets)


@pytest.mark.derive("dtype")
def test_confident_tokens(check, rng):
    """Hundreds of tokens of which the model is sure, in half precision surer still: a small loss is not none."""
    targets, height = rng.integers(0, 4, 500), 8.0 if check.dtype in (torch.float16, torch.bfloat16) else 2.0
    check(height * torch.nn.functional.one_hot(targets, 4).double(), targets)


@pytest.mark.derive
def test_a_vocabulary_of_forty_thousand(check, rng):
    """Classes beyond sixteen bits, and logits of ten thousand among so many."""
    check(rng.normal(3, 40_000), torch.tensor([39_999, 32_768, 5]))
    check(rng.normal(3, 40_000), torch.tensor([33_000, 39_000, 5]), 33_000)
    check(rng.normal(2, 40_000, scale=1e4), torch.tensor([32_768, 7]), label_smoothing=0.1)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_the_same_added_to_all_logits(check, rng):
    """A million more for each class of a token: the softmax does not see it."""
    logits, targets = rng.normal(2, 3, 5), rng.integers(0, 5, 2, 3)
    check(logits + 1e6, targets)
    check(logits - 1e6, targets)


@pytest.mark.derive("dtype")
def test_many_large_losses(check, rng):
    """The sum of all losses is larger than float16 can hold, their mean is not."""
    for tokens in (300, 5000):
        check(rng.uniform(tokens, 5, low=-400.0, high=400.0), rng.integers(0, 5, tokens))
    check(far_apart(rng, 8), rng.integers(0, 5, 8), label_smoothing=0.5)


@pytest.mark.precise
@pytest.mark.derive
def test_digits_of_double_precision(check, rng):
    """In float64 all the digits are there."""
    result = check(rng.normal(3, 4, 6), rng.integers(0, 6, 3, 4), label_smoothing=0.1)
    check.that(keeps_digits(result), "numbers of float64 came back with the digits of a shorter type")


@pytest.mark.derive
def test_ignored_tokens_leave_no_trace(check, rng):
    """Logits of tokens that do not count are replaced by huge ones: not one bit of the loss may change."""
    logits, counted = rng.normal(3, 6, 5), rng.keep(3, 6)
    targets = ignoring(rng.integers(0, 5, 3, 6), counted)
    poisoned = torch.where(counted[..., None], logits, rng.normal(3, 6, 5, scale=1e4))
    message = "a token that does not count changes the loss"
    check.same(check(logits, targets), check.run(poisoned, targets), message)
    check.same(check(logits, targets, label_smoothing=0.2), check.run(poisoned, targets, label_smoothing=0.2), message)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """A real vocabulary, many tokens, axes that agree, axes of one: no rule changes."""
    shapes = (
        (2, 1200),
        (300, 5),
        (9, 1, 5),
        (1, 1, 3),
        (1, 300, 5),
        (9, 70, 5),
        (3, 3, 3),
        (9, 9, 2, 3),
        (1, 2, 3, 4),
        (4, 2, 3, 4),
        (3, 2, 3, 4),
        (1, 1),
        (3, 1),
        (2, 1, 3, 2, 4),
    )
    for shape in shapes:
        targets = rng.integers(0, shape[-1], *shape[:-1])
        check(rng.normal(*shape), targets)
        check(rng.normal(*shape), targets, 0, 0.5)
    for ignored in (2, 1, -100):
        check(rng.normal(5), torch.tensor(2), ignored, 0.5)
    check(rng.normal(3, 1), torch.zeros(3, dtype=torch.int64), label_smoothing=0.5)
    check(rng.normal(4, 1200), torch.tensor([1100, 999, 300, 0]))
    check(rng.normal(4, 1200), torch.tensor([1100, 1150, 300, 0]), 1150)


@pytest.mark.cost
def test_all_tokens_at_once(check, rng):
    """Work in one go for all tokens, and nothing larger than the logits."""
    small = check.run(rng.normal(4, 8, 50), rng.integers(0, 50, 4, 8)).cost
    large = check.run(rng.normal(4, 64, 50), rng.integers(0, 50, 4, 64)).cost
    check.no_loop(small, large, 56, "the loss goes through the tokens one by one")
    check.at_most(large.biggest, 1.1 * 4 * 64 * 50, "a tensor larger than the logits", large.biggest_line)
