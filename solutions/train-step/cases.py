"""Hidden cases of train-step."""

import pytest
import torch

from grader.kit.digits import keeps_digits

VOCABULARY, WIDTH = 7, 4


def weights(rng, vocabulary=VOCABULARY, width=WIDTH):
    """Draw embedding and head of the model, and the features that it keeps in training."""
    return rng.normal(vocabulary, width), rng.normal(vocabulary, width), 2.0 * rng.keep(width).double()


def texts(rng, *shape, vocabulary=VOCABULARY):
    """Draw tokens, none of which is padding."""
    return rng.integers(1, vocabulary, *shape)


def padded(tokens, lengths, pad_id=0):
    """Keep the first tokens of each text and pad the rest."""
    return torch.where(torch.arange(tokens.size(1)) < torch.tensor(lengths)[:, None], tokens, pad_id)


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    embedding = torch.tensor([[0.0], [1.0], [2.0]], dtype=torch.float64)
    head, kept = torch.zeros(3, 1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    batch = torch.tensor([[1, 2, 0]])
    check["train_step"].driven("learn", embedding, head, kept, [batch, batch], 0.3)
    check["evaluate"].driven("measure", embedding, head, kept, [batch, torch.tensor([[2, 1, 1]])], True)


def test_one_step(check, rng):
    """A batch, a loss, a step down its gradient; old gradients have no part in it."""
    check["train_step"].driven("learn", *weights(rng), [texts(rng, 2, 5)], 0.5)


def test_several_steps(check, rng):
    """Each step has the gradient of its own batch."""
    check["train_step"].driven("learn", *weights(rng), [texts(rng, 3, 6) for _ in range(4)], 0.5)


def test_one_text(check, rng):
    """A single row; two tokens, of which the first predicts the second."""
    check["train_step"].driven("learn", *weights(rng), [texts(rng, 1, 4), texts(rng, 1, 2)], 0.5)


def test_axes_of_one_size(check, rng):
    """B == S == V == d, where a wrong axis does not show in the shape."""
    check["train_step"].driven("learn", *weights(rng, 5, 5), [texts(rng, 5, 5, vocabulary=5)] * 2, 0.5)


def test_padded_texts(check, rng):
    """Padding is not to be predicted, and does not count: the mean is over the tokens of all texts."""
    batches = [padded(texts(rng, 3, 7), lengths) for lengths in ([7, 4, 2], [3, 7, 1], [2, 2, 6])]
    check["train_step"].driven("learn", *weights(rng), batches, 0.5)


def test_another_token_for_padding(check, rng):
    """pad_id is an argument: then 0 is a token like any other."""
    tokens = rng.integers(0, 3, 2, 7)
    for pad_id in (3, 6):
        batches = [padded(tokens, [7, 4], pad_id), padded(tokens.flip(0), [3, 6], pad_id)]
        check["train_step"].driven("learn", *weights(rng), batches, 0.5, pad_id=pad_id)


def test_nothing_to_predict(check, rng):
    """A batch of padding, and texts of one token: the loss is 0, no weight becomes NaN, and the next batch counts."""
    batches = [torch.zeros(2, 4, dtype=torch.int64), texts(rng, 3, 1), padded(texts(rng, 2, 4), [1, 1])]
    check["train_step"].driven("learn", *weights(rng), [*batches, texts(rng, 2, 5)], 0.5)


@pytest.mark.parametrize("max_norm", [0.05, 0.2])
def test_a_clipped_gradient(check, rng, max_norm):
    """The gradient of all weights together is as long as it may be, and points where it did."""
    embedding, head, kept = weights(rng)
    batches = [padded(texts(rng, 2, 6), lengths) for lengths in ([6, 3], [2, 5])]
    check["train_step"].driven("learn", 3.0 * embedding, head, kept, batches, 4.0, max_norm)


def test_a_gradient_of_no_length(check, rng):
    """max_norm = 0 lets nothing through; None is any length."""
    check["train_step"].driven("learn", *weights(rng), [texts(rng, 3, 6)], 0.5, max_norm=0.0)


def test_a_limit_far_above_one(check, rng):
    """A long gradient may be as long as the limit says, and is clipped there."""
    embedding, head, kept = weights(rng)
    batches = [padded(texts(rng, 2, 6), [6, 3])]
    for max_norm in (30.0, 1e4):
        check["train_step"].driven("learn", 300.0 * embedding, 3.0 * head, kept, batches, 1.0, max_norm)


def test_a_gradient_that_is_short_enough(check, rng):
    """max_norm makes no gradient longer."""
    check["train_step"].driven("learn", *weights(rng), [texts(rng, 3, 6) for _ in range(2)], 0.5, max_norm=100.0)


def test_clipped_and_padded(check, rng):
    """All arguments by position."""
    batches = [padded(texts(rng, 3, 6) - 1, [6, 4, 3], 6) for _ in range(2)]
    check["train_step"].driven("learn", *weights(rng), batches, 1.0, 0.1, 6)


def test_texts_that_are_views(check, rng):
    """Tokens that do not lie side by side."""
    tokens = texts(rng, 6, 8)
    check["train_step"].driven("learn", *weights(rng), [tokens.t()[:4], tokens[:3, ::2]], 0.5)


@pytest.mark.parametrize("training", [True, False])
def test_evaluation(check, rng, training):
    """Without dropout and without a graph; mode, gradients and weights are what they were, frozen ones frozen."""
    check["evaluate"].driven("measure", *weights(rng), [texts(rng, 3, 6)], training)


def test_evaluation_of_several_batches(check, rng):
    """Batches of different sizes: every token has the same weight, whichever batch it is in."""
    batches = [texts(rng, 4, 7), texts(rng, 1, 2), texts(rng, 2, 3)]
    check["evaluate"].driven("measure", *weights(rng), batches, True)


def test_evaluation_of_padded_texts(check, rng):
    """What is padding has no weight."""
    batches = [padded(texts(rng, 3, 6), [6, 2, 1]), padded(texts(rng, 2, 5), [2, 1]), padded(texts(rng, 2, 4), [4, 4])]
    check["evaluate"].driven("measure", *weights(rng), batches, False)


def test_evaluation_with_another_token_for_padding(check, rng):
    """By name and by position."""
    tokens = rng.integers(0, 3, 3, 6)
    batches = [padded(tokens, [6, 4, 2], 5), padded(tokens[:2], [1, 5], 5)]
    check["evaluate"].driven("measure", *weights(rng), batches, True, pad_id=5)
    check["evaluate"].driven("measure", *weights(rng), batches, True, 5)


def test_evaluation_of_nothing(check, rng):
    """No batch, or none with a token to predict: the loss is 0."""
    check["evaluate"].driven("measure", *weights(rng), [], True)
    check["evaluate"].driven("measure", *weights(rng), [torch.zeros(2, 4, dtype=torch.int64), texts(rng, 2, 1)], False)


def test_evaluation_with_a_batch_of_padding(check, rng):
    """Amid others it changes nothing."""
    batches = [texts(rng, 2, 4), torch.zeros(2, 4, dtype=torch.int64), texts(rng, 3, 3)]
    check["evaluate"].driven("measure", *weights(rng), batches, True)


def test_other_sizes(check, rng):
    """A larger vocabulary, long texts, many of them: no rule changes."""
    large = weights(rng, 1200, 6)
    batches = [texts(rng, *shape, vocabulary=1200) for shape in ((2, 300), (9, 5), (1, 3))]
    check["train_step"].driven("learn", *large, batches, 0.5, 1.0)
    check["evaluate"].driven("measure", *large, batches, True)


@pytest.mark.precise  # in float32 a sum over forty thousand classes in another order may be off by more
@pytest.mark.derive
def test_what_people_train_on(check, rng):
    """A vocabulary of forty thousand; texts of sixty tokens, of which the first ends early; many batches."""
    large = weights(rng, 40_000, 2)
    check["train_step"].driven("learn", *large, [rng.integers(32_000, 40_000, 2, 5)], 0.5)
    batch = padded(texts(rng, 3, 60), [9, 60, 50])
    check["train_step"].driven("learn", *weights(rng), [batch], 0.5)
    batches = [texts(rng, 1, 2 + number % 3) for number in range(130)]
    check["evaluate"].driven("measure", *weights(rng), [batch, *batches], False)


@pytest.mark.precise
@pytest.mark.derive
def test_digits_of_double_precision(check, rng):
    """In float64 all the digits are there, in losses and weights."""
    result = check["train_step"].driven("learn", *weights(rng), [padded(texts(rng, 3, 6), [6, 4, 2])] * 2, 0.5)
    check.that(keeps_digits(result), "numbers of float64 came back with the digits of a shorter type")
    check["evaluate"].driven("measure", *weights(rng), [texts(rng, 3, 6), texts(rng, 2, 4)], True)


@pytest.mark.cost
def test_all_tokens_at_once(check, rng):
    """Neither text by text nor token by token."""
    large, model = [texts(rng, 24, 40)], weights(rng)
    small = check["train_step"].driven("learn", *model, [texts(rng, 4, 8)], 0.5).cost
    check.no_loop(small, check["train_step"].driven("learn", *model, large, 0.5).cost, 20, "a step loops over texts")
    small = check["evaluate"].driven("measure", *model, [texts(rng, 4, 8)], True).cost
    check.no_loop(small, check["evaluate"].driven("measure", *model, large, True).cost, 20, "it loops over texts")


@pytest.mark.cost
def test_one_batch_at_a_time(check, rng):
    """An evaluation needs the memory of one batch, however many there are."""
    model, batch = weights(rng, 200), texts(rng, 8, 20, vocabulary=200)
    few = check["evaluate"].driven("measure", *model, [batch] * 2, True).cost
    many = check["evaluate"].driven("measure", *model, [batch] * 12, True).cost
    check.at_most(many.peak, 1.5 * few.peak, "an evaluation keeps what it made of earlier batches")
