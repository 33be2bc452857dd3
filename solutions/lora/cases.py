"""Hidden cases of lora."""

import pytest
import torch

from grader.kit.digits import keeps_digits


def layer(rng, n_in, n_out, r, *, bias=True):
    """Draw weight and bias of a linear layer, and A and B for it."""
    own_bias = rng.normal(n_out) if bias else None
    return rng.normal(n_out, n_in), own_bias, rng.normal(r, n_in), rng.normal(n_out, r)


def reflection(rng, n):
    """Draw a matrix (n, n) that mixes all features, and is its own inverse."""
    axis = torch.nn.functional.normalize(1.0 + rng.uniform(n), dim=0)
    return torch.eye(n, dtype=torch.float64) - 2 * axis[:, None] * axis


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    weight, bias = torch.tensor([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0]]), torch.tensor([0.0, 1.0])
    a, b = torch.tensor([[1.0, 0.0, -1.0], [0.0, 1.0, 0.0]]), torch.tensor([[1.0, 0.0], [-3.0, 1.0]])
    check["LoRALinear"].driven("adapt", weight, bias, a, b, torch.tensor([1.0, 2.0, 3.0]), 4, ("merge", "unmerge"))


def test_one_token(check, rng):
    """The smallest call."""
    check["LoRALinear"].driven("adapt", *layer(rng, 4, 3, 2), rng.normal(1, 4), 6)


def test_a_batch_of_sequences(check, rng):
    """(B, S, in_features) to (B, S, out_features); alpha / r is no whole number."""
    check["LoRALinear"].driven("adapt", *layer(rng, 5, 7, 3), rng.normal(2, 4, 5), 8)


def test_axes_of_one_size(check, rng):
    """All sizes agree, so that a transposed matrix does not show in a shape."""
    check["LoRALinear"].driven("adapt", *layer(rng, 4, 4, 4), rng.normal(4, 4, 4), 6, ("merge",))


@pytest.mark.parametrize("alpha", [1, 2, 16, 0.5, 0])
def test_scale(check, rng, alpha):
    """alpha / r, whether alpha is larger than r or smaller, whole or not; 0 leaves the base alone."""
    check["LoRALinear"].driven("adapt", *layer(rng, 6, 5, 4), rng.normal(2, 3, 6), alpha, ("merge",))


def test_without_a_bias(check, rng):
    """A base without a bias stays without one."""
    check["LoRALinear"].driven(
        "adapt", *layer(rng, 5, 3, 2, bias=False), rng.normal(2, 4, 5), 6, ("merge", "unmerge", "load")
    )


def test_narrow_layers(check, rng):
    """Widths of one, and a rank that is larger than both widths: nothing forbids it."""
    for n_in, n_out, r in ((1, 4, 2), (4, 1, 2), (3, 2, 7), (4, 3, 1)):
        shapes = ((n_out, n_in), (n_out,), (r, n_in), (n_out, r), (2, 3, n_in))
        above_nought = [0.1 + rng.uniform(*shape) for shape in shapes]  # few numbers: none may cancel
        check["LoRALinear"].driven("adapt", *above_nought, 6, ("merge",))


@pytest.mark.parametrize("shape", [(6,), (4, 6), (2, 3, 4, 6)])
def test_any_leading_axes(check, rng, shape):
    """One token, a matrix, heads in between: the last axis is what counts."""
    check["LoRALinear"].driven("adapt", *layer(rng, 6, 5, 2), rng.normal(*shape), 3, ("merge",))


def test_transposed_input(check, rng):
    """Views whose features do not lie side by side."""
    own = layer(rng, 6, 5, 2)
    check["LoRALinear"].driven("adapt", *own, rng.normal(2, 6, 4).transpose(1, 2), 3)
    check["LoRALinear"].driven("adapt", *own, rng.normal(2, 4, 12)[..., ::2], 3)


def test_the_beginning(check, rng):
    """A new layer computes what its base does, and can learn: B is 0, A is random."""
    weight, bias, _a, _b = layer(rng, 6, 5, 3)
    check["LoRALinear"].driven("begin", weight, bias, rng.normal(2, 4, 6), 3, 6)
    check["LoRALinear"].driven("begin", weight, None, rng.normal(2, 4, 6), r=4, alpha=16, dropout=0.5)


def test_merged(check, rng):
    """The same results come out of one product."""
    check["LoRALinear"].driven("adapt", *layer(rng, 6, 5, 3), rng.normal(2, 4, 6), 7, ("merge", "again"))


def test_merged_and_taken_apart(check, rng):
    """The weight is as it was, up to rounding, however often."""
    does = ("merge", "unmerge", "merge", "unmerge")
    check["LoRALinear"].driven("adapt", *layer(rng, 6, 5, 3), rng.normal(2, 4, 6), 7, does)


def test_merged_twice(check, rng):
    """Merging a merged layer does nothing, and one unmerge undoes both."""
    does = ("merge", "merge", "unmerge", "step")
    check["LoRALinear"].driven("adapt", *layer(rng, 4, 3, 2), rng.normal(2, 4, 4), 1, does)


def test_unmerged_twice(check, rng):
    """A layer that is not merged has nothing to take out."""
    does = ("unmerge", "merge", "unmerge", "unmerge", "merge")
    check["LoRALinear"].driven("adapt", *layer(rng, 6, 5, 3), rng.normal(2, 4, 6), 7, does)


def test_trained(check, rng):
    """Steps of gradient descent over all parameters: A and B learn, the base stays."""
    check["LoRALinear"].driven("adapt", *layer(rng, 4, 3, 2), rng.normal(2, 4, 4), 1, ("step", "step", "step"))


def test_trained_from_the_beginning(check, rng):
    """With B at 0 it is B that learns first: the first gradient of A is 0, the second is not."""
    weight, bias, a, b = layer(rng, 4, 3, 2)
    check["LoRALinear"].driven("adapt", weight, bias, a, 0 * b, rng.normal(2, 4, 4), 1, ("step", "step", "step"))


def test_merged_between_trainings(check, rng):
    """What was learned before counts in what is merged, and after unmerging learning goes on."""
    does = ("merge", "unmerge", "step", "merge", "unmerge", "step")
    check["LoRALinear"].driven("adapt", *layer(rng, 4, 3, 2), rng.normal(2, 4, 4), 1, does)


def test_loaded(check, rng):
    """The state dict of a layer, loaded into one around another base: A, B and the base are back."""
    does = ("load", "merge", "unmerge", "load", "step")
    check["LoRALinear"].driven("adapt", *layer(rng, 4, 3, 2), rng.normal(2, 3, 4), 1, does)


def test_copied(check, rng):
    """A deep copy, merged or not, has all that it needs, and shares nothing with the original."""
    does = ("copy", "merge", "copy", "unmerge", "step", "copy")
    check["LoRALinear"].driven("adapt", *layer(rng, 4, 3, 2), rng.normal(2, 3, 4), 1, does)


def test_one_tensor_with_other_numbers(check, rng):
    """Whoever fills a tensor again gets the result of what is in it now, merged or not."""
    does = ("refill", "merge", "refill")
    check["LoRALinear"].driven("adapt", *layer(rng, 4, 3, 2), rng.normal(2, 3, 4), 5, does)


def test_moved_while_merged(check, rng):
    """A merged layer goes to another dtype: `.to()` has all of it, and it is taken apart there."""
    does = ("merge then unmerge in double", "merge", "unmerge")
    check["LoRALinear"].driven("adapt", *layer(rng, 4, 3, 2), rng.normal(2, 3, 4), 5, does)


@pytest.mark.derive("grad", "device")
def test_training_without_dropout(check, rng):
    """Both modes do the same, before and after merging."""
    does = ("train", "eval", "merge", "train", "eval", "unmerge", "train")
    check["LoRALinear"].driven("adapt", *layer(rng, 6, 5, 3), rng.normal(2, 4, 6), 7, does)


def test_no_dropout_in_evaluation(check, rng):
    """In evaluation mode a rate of one half, the fourth setting, changes nothing; merging does not depend on it."""
    check["LoRALinear"].driven("adapt", *layer(rng, 6, 5, 3), rng.normal(2, 4, 6), 7, ("merge", "unmerge"), 0.5)


@pytest.mark.derive
def test_everything_dropped(check, rng):
    """With a rate of 1 nothing reaches A in training: the base is left."""
    check["LoRALinear"].driven("adapt", *layer(rng, 6, 5, 3), rng.normal(2, 4, 6), 7, ("train", "eval"), 1.0)


@pytest.mark.derive("grad")
def test_merged_in_training(check, rng):
    """Merging and taking apart do the same in training, whatever dropout drops, and with or without a graph."""
    does = (
        *("train then merge", "eval then unmerge", "merge then train then unmerge then eval"),
        *("train then no_grad merge", "no_grad unmerge then eval"),
    )
    check["LoRALinear"].driven("adapt", *layer(rng, 6, 5, 3), rng.normal(2, 4, 6), 7, does, 0.5)


@pytest.mark.derive
def test_merged_where_no_graph_is_recorded(check, rng):
    """Nothing is learned by merging: it is the same where no gradients are recorded."""
    does = ("no_grad merge", "no_grad unmerge", "inference_mode merge", "inference_mode unmerge")
    check["LoRALinear"].driven("adapt", *layer(rng, 6, 5, 3), rng.normal(2, 4, 6), 7, does)


@pytest.mark.derive("grad", "device", "contract")
@pytest.mark.parametrize("rate", [0.25, 0.75])
def test_what_dropout_drops(check, rng, rate):
    """Features of x on their way to A, one by one; those that are kept are rescaled, and the base sees all of x."""
    n = 12
    weight, bias, a, b = rng.normal(n, n), rng.normal(n), reflection(rng, n), reflection(rng, n)
    x = 1.0 + rng.uniform(20, 6, n)
    check["LoRALinear"].driven("drop", weight, bias, a, b, x, 18, rate)


@pytest.mark.precise
@pytest.mark.derive
def test_digits_of_double_precision(check, rng):
    """In float64 all the digits are there, merged or not."""
    results = check["LoRALinear"].driven("adapt", *layer(rng, 6, 5, 3), rng.normal(2, 4, 6), 7, ("step", "merge"))
    check.that(keeps_digits(results), "numbers of float64 came back with the digits of a shorter type")


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    for shape in ((9, 1, 1, 3), (1, 2, 2, 3), (9, 2, 3), (1, 300, 3), (3, 3, 3, 3)):
        check["LoRALinear"].driven("adapt", *layer(rng, 3, 3, 3), rng.normal(*shape), 2, ("merge",))
    own, x = layer(rng, 80, 90, 70), rng.normal(2, 80)
    check["LoRALinear"].driven("adapt", *own, 3e4 * x, 1.5, ("merge", "unmerge"))
    check["LoRALinear"].driven("adapt", *own, x, 1e5, ("merge", "unmerge"))


@pytest.mark.contract
@pytest.mark.parametrize("r", [0, -1])
def test_a_rank_below_one(check, rng, r):
    """Nothing goes through no features: refused when the layer is built."""
    weight, bias, _a, _b = layer(rng, 4, 3, 2)
    with check.raises(ValueError):
        check["LoRALinear"].driven("begin", weight, bias, rng.normal(2, 4), r, 6)


@pytest.mark.cost
def test_a_merged_layer_costs_what_its_base_costs(check, rng):
    """One product with a weight, nothing else."""
    own, x = layer(rng, 40, 50, 20), rng.normal(6, 40)
    one = check["LoRALinear"].driven("adapt", *own, x, 8, ("merge",)).cost
    three = check["LoRALinear"].driven("adapt", *own, x, 8, ("merge", "again", "again")).cost
    limit = int(2.2 * 6 * 40 * 50)
    check.at_most(three.madds - one.madds, limit, "a merged layer costs more than its base")


@pytest.mark.cost
def test_thin_products(check, rng):
    """Beside the base a token goes through r numbers; the product of B and A is for merging alone."""
    for tokens in (3, 600):
        own, x = layer(rng, 60, 50, 8), rng.normal(tokens, 60)
        one = check["LoRALinear"].driven("adapt", *own, x, 8).cost
        three = check["LoRALinear"].driven("adapt", *own, x, 8, ("again", "again")).cost
        limit = int(2.2 * tokens * (60 * 50 + 8 * (60 + 50)))
        check.at_most(three.madds - one.madds, limit, "a call multiplies B with A before it meets a token")


@pytest.mark.cost
def test_thin_products_of_a_large_r(check, rng):
    """The same where r is larger than both widths: the product of B and A would cost even more."""
    own, x = layer(rng, 60, 50, 80), rng.normal(3, 60)
    one = check["LoRALinear"].driven("adapt", *own, x, 8).cost
    three = check["LoRALinear"].driven("adapt", *own, x, 8, ("again", "again")).cost
    limit = int(2.2 * 3 * (60 * 50 + 80 * (60 + 50)))
    check.at_most(three.madds - one.madds, limit, "a call multiplies B with A before it meets a token")
