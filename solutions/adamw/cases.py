"""Hidden cases of adamw."""

import pytest
import torch

from grader.kit.digits import keeps_digits


def of_shapes(rng, *shapes, scale=1.0):
    """Draw a tensor of each shape."""
    return [rng.normal(*shape, scale=scale) for shape in shapes]


def away_from_zero(rng, *shapes, least=2.0):
    """Draw a tensor of each shape whose numbers are at least so large.

    A correct second mean in float32 may be 1e-5 of itself off, and so is what a step adds: beside a parameter of few
    numbers, all of them small by chance, that would be more than the tolerance.
    """
    drawn = of_shapes(rng, *shapes)
    return [one + least * torch.where(one < 0, -1.0, 1.0) for one in drawn]


def steps(rng, count, *shapes, scale=1.0):
    """Draw gradients for so many steps."""
    return [of_shapes(rng, *shapes, scale=scale) for _ in range(count)]


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    gradients = [[torch.tensor([1.0, -2.0])], [torch.tensor([4.0, -5.0])]]
    check["AdamW"].driven(
        "optimise", [torch.tensor([5.0, -7.0])], gradients, lr=0.1, betas=(0.5, 0.5), weight_decay=0.5
    )


def test_the_first_step(check, rng):
    """Both means began at 0 and are corrected for it: the first step goes lr far, whatever the gradient."""
    check["AdamW"].driven("optimise", of_shapes(rng, (2, 3)), steps(rng, 1, (2, 3)), lr=0.1)


def test_several_steps(check, rng):
    """Gradients that change from step to step."""
    check["AdamW"].driven("optimise", of_shapes(rng, (2, 3, 2)), steps(rng, 5, (2, 3, 2)), lr=0.05)


def test_parameters_of_any_shape(check, rng):
    """A number, a vector, a matrix, three axes: each has means of its own."""
    shapes = ((), (3,), (2, 4), (2, 1, 3))
    check["AdamW"].driven("optimise", away_from_zero(rng, *shapes), steps(rng, 3, *shapes), lr=0.1)


def test_parameters_of_one_shape(check, rng):
    """Equal shapes, and equal numbers at the start: what tells them apart is who they are."""
    same = rng.normal(2, 3)
    check["AdamW"].driven("optimise", [same, same.clone(), rng.normal(2, 3)], steps(rng, 3, *[(2, 3)] * 3), lr=0.1)


def test_a_transposed_parameter(check, rng):
    """Parameters and gradients that lie in memory in another way."""
    gradients = [[rng.normal(3, 2)], [rng.normal(2, 3).t()], [rng.normal(3, 4)[:, ::2]]]
    check["AdamW"].driven("optimise", [rng.normal(2, 3).t()], gradients, lr=0.1)


@pytest.mark.parametrize("betas", [(0.5, 0.9), (0.0, 0.5), (0.9, 0.0), (0.8, 0.99)])
def test_betas(check, rng, betas):
    """The first is for the mean of the gradients, the second for that of their squares; 0 forgets at once."""
    # of like size: v + (1 - b2) (g^2 - v) forgets at once but keeps few digits of a square far below the mean
    gradients = [away_from_zero(rng, (2, 3, 2), least=1.0) for _ in range(4)]
    check["AdamW"].driven("optimise", of_shapes(rng, (2, 3, 2)), gradients, lr=0.1, betas=betas)


@pytest.mark.parametrize("eps", [1.0, 0.1, 1e-3])
def test_eps(check, rng, eps):
    """As large as the gradients: behind the root, and behind the correction of the mean."""
    check["AdamW"].driven("optimise", of_shapes(rng, (2, 3, 2)), steps(rng, 3, (2, 3, 2), scale=0.1), lr=0.1, eps=eps)


@pytest.mark.parametrize("weight_decay", [0.0, 0.3, 2.0])
def test_weight_decay(check, rng, weight_decay):
    """It takes lr * weight_decay of a parameter, however large the gradients are."""
    gradients = [[rng.normal(3, 4, scale=scale)] for scale in (1.0, 10.0, 0.1, 1.0)]
    check["AdamW"].driven(
        "optimise", [2.0 + rng.normal(3, 4)], gradients, lr=0.1, betas=(0.5, 0.8), weight_decay=weight_decay
    )


def test_settings_by_position(check, rng):
    """lr, betas, eps, weight_decay; betas may be a list."""
    check["AdamW"].driven("optimise", of_shapes(rng, (3, 4)), steps(rng, 3, (3, 4)), 0.2, [0.7, 0.9], 0.01, 0.4)


def test_a_rate_of_zero(check, rng):
    """lr = 0 is no mistake: nothing moves."""
    check["AdamW"].driven("optimise", of_shapes(rng, (3, 4)), steps(rng, 2, (3, 4)), lr=0.0, weight_decay=0.5)


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_default_settings(check, rng):
    """What a caller gets who names nothing, over many steps of which some have tiny gradients."""
    gradients = [[rng.normal(3, 4, scale=scale)] for scale in (1.0, 1e-7, 1e-8) * 7]
    check["AdamW"].driven("optimise", of_shapes(rng, (3, 4)), gradients)
    check["AdamW"].driven("optimise", of_shapes(rng, (3, 4), scale=1e-2), [[rng.normal(3, 4, scale=1e-8)]])


def test_a_parameter_without_gradient(check, rng):
    """It stays as it is, decay and all; the others move. In one step nobody has any."""
    parameters = away_from_zero(rng, (2, 3), (4,), (2,))
    gradients = [[rng.normal(2, 3), None, rng.normal(2)] for _ in range(3)]
    gradients.insert(1, [None, None, None])
    check["AdamW"].driven("optimise", parameters, gradients, lr=0.1, weight_decay=0.5)


def test_a_gradient_that_comes_late(check, rng):
    """A parameter's own steps count: its third gradient may be its first step, and one that pauses goes on later."""
    first = [rng.normal(2, 3) for _ in range(5)]
    second = [None, None, rng.normal(4), rng.normal(4), rng.normal(4)]
    third = [rng.normal(2), None, None, rng.normal(2), rng.normal(2)]
    gradients = [list(step) for step in zip(first, second, third, strict=True)]
    check["AdamW"].driven("optimise", away_from_zero(rng, (2, 3), (4,), (2,)), gradients, lr=0.1, weight_decay=0.5)


def test_gradients_of_zero(check, rng):
    """A gradient of 0 is one: the parameter decays, and the mean still pushes; never 0 / 0."""
    zeros = torch.zeros(3, 4, dtype=torch.float64)
    some = rng.normal(3, 4) * (torch.arange(4) > 1)
    gradients = [[zeros], [some], [zeros], [rng.normal(3, 4)]]
    check["AdamW"].driven("optimise", of_shapes(rng, (3, 4)), gradients, lr=0.1, weight_decay=0.5)


@pytest.mark.parametrize("scale", [1e-4, 2e4])
def test_small_and_large_gradients(check, rng, scale):
    """Their squares do not fit into float16; the steps are as long as ever."""
    gradients = [[scale * (1.0 + rng.uniform(3, 4))] for _ in range(3)]
    check["AdamW"].driven("optimise", of_shapes(rng, (3, 4)), gradients, lr=0.1)


@pytest.mark.parametrize("at", [1, 3])
def test_saved_and_loaded(check, rng, at):
    """An optimiser that loads a checkpoint goes on as the one that wrote it: means, steps and settings are back."""
    check["AdamW"].driven(
        "resume", away_from_zero(rng, (2, 3), (4,)), steps(rng, 6, (2, 3), (4,)), at, lr=0.1, betas=(0.7, 0.9)
    )


def test_parameters_of_one_shape_are_loaded(check, rng):
    """Each gets its own means back: three of one shape, one of which began later."""
    gradients = [[rng.normal(2, 3), rng.normal(2, 3, scale=9.0), None], *steps(rng, 4, *[(2, 3)] * 3)]
    check["AdamW"].driven("resume", of_shapes(rng, *[(2, 3)] * 3), gradients, 2, lr=0.1, betas=(0.7, 0.9))


def test_every_setting_is_loaded(check, rng):
    """None of them is that of a new optimiser."""
    settings = {"lr": 0.2, "betas": (0.6, 0.8), "eps": 0.3, "weight_decay": 0.7}
    check["AdamW"].driven("resume", of_shapes(rng, (2, 3)), steps(rng, 5, (2, 3)), 2, **settings)


@pytest.mark.precise
@pytest.mark.derive
def test_settings_of_zero_are_loaded(check, rng):
    """A 0 is a setting like any other: a new optimiser has another one there."""
    gradients = [[1e-8 * (1.0 + rng.uniform(3, 4))] for _ in range(5)]
    for settings in ({"lr": 0.1, "betas": (0.0, 0.0), "eps": 0.0, "weight_decay": 0.0}, {"lr": 0.0}):
        check["AdamW"].driven("resume", away_from_zero(rng, (3, 4)), gradients, 2, **settings)


def test_a_frozen_parameter_in_front(check, rng):
    """The first parameter never has a gradient, so it has no means: the second one gets its own back all the same."""
    gradients = [[None, one] for (one,) in steps(rng, 5, (2, 3))]
    check["AdamW"].driven("resume", away_from_zero(rng, (2, 3), (2, 3)), gradients, 3, lr=0.1)


@pytest.mark.derive("dtype")
def test_decay_and_step_of_less_than_a_digit(check):
    """In half precision neither the decay nor the step changes 1.5 by itself; computed in float32 both together do."""
    half = torch.finfo(check.variant_dtype).eps / 2  # so far is it to the middle between 1.5 and the next number
    parameters = [torch.full((3,), sign * 1.5, dtype=torch.float64) for sign in (1.0, -1.0)]
    gradients = [[torch.full((3,), sign, dtype=torch.float64) for sign in (1.0, -1.0)] for _step in range(20)]
    rate = 0.95 * half  # the decay goes as far, so that both together are nearly the way to the next number
    check["AdamW"].driven("optimise", parameters, gradients, lr=rate, weight_decay=1 / 1.5)


def test_saved_before_a_first_gradient(check, rng):
    """One parameter has made two steps, the other none."""
    gradients = [[rng.normal(2, 3), None], [rng.normal(2, 3), None], *steps(rng, 3, (2, 3), (4,))]
    check["AdamW"].driven("resume", away_from_zero(rng, (2, 3), (4,)), gradients, 2, lr=0.1)


@pytest.mark.parametrize("at", [0, 2])
def test_tiny_gradients_behind_a_checkpoint(check, rng, at):
    """The means of a float16 parameter are float32 in a checkpoint too, where their squares would be 0 in float16."""
    gradients = [[1e-3 * (1.0 + rng.uniform(3, 4))] for _ in range(4)]
    check["AdamW"].driven("resume", away_from_zero(rng, (3, 4)), gradients, at, lr=0.5)


def test_large_and_transposed_behind_a_checkpoint(check, rng):
    """Parameters and gradients of ten thousand; one lies in memory the other way round, and so do its means."""
    parameters = [2e4 * (1.0 + rng.uniform(2, 3)).t(), -2e4 * (1.0 + rng.uniform(4))]
    gradients = [[2e4 * (1.0 + rng.uniform(2, 3)).t(), 2e4 * (1.0 + rng.uniform(4))] for _ in range(4)]
    check["AdamW"].driven("resume", parameters, gradients, 2, lr=50.0, weight_decay=0.001)


def test_cleared_gradients(check, rng):
    """zero_grad leaves no gradient, and all else as it is: means and steps go on."""
    parameters, gradients = away_from_zero(rng, (2, 3), (4,)), steps(rng, 4, (2, 3), (4,))
    check["AdamW"].driven("clear", parameters, gradients, lr=0.1, weight_decay=0.2)
    check["AdamW"].driven("clear", away_from_zero(rng, (2, 3), (4,)), [[rng.normal(2, 3), None]], lr=0.1)
    check["AdamW"].driven("clear", away_from_zero(rng, *[(2,)] * 30), steps(rng, 2, *[(2,)] * 30), lr=0.1)


@pytest.mark.precise
@pytest.mark.derive
def test_digits_of_double_precision(check, rng):
    """In float64 all the digits are there."""
    after = check["AdamW"].driven("optimise", of_shapes(rng, (3, 4)), steps(rng, 3, (3, 4)), lr=0.1)
    check.that(keeps_digits(after), "numbers of float64 came back with the digits of a shorter type")


@pytest.mark.precise
@pytest.mark.derive
def test_other_sizes(check, rng):
    """Many parameters, long and wide ones, many steps, sizes of one: no rule changes."""
    shapes = ((1,), (300,), (3, 3), (1, 5), (300, 2), (2, 300), (70, 70), (9, 9, 2), (1, 1, 1, 1), (9, 2, 3, 70))
    check["AdamW"].driven("optimise", away_from_zero(rng, *shapes), steps(rng, 2, *shapes), lr=0.1)
    check["AdamW"].driven(
        "optimise", away_from_zero(rng, *[(2,)] * 40, least=8.0), steps(rng, 2, *[(2,)] * 40), lr=1.0, eps=0.0
    )
    check["AdamW"].driven(
        "optimise", away_from_zero(rng, (3,), least=8.0), steps(rng, 40, (3,)), lr=0.1, weight_decay=1.0
    )
    check["AdamW"].driven("optimise", away_from_zero(rng, (3,)), steps(rng, 4, (3,)), lr=0.1, betas=(0.98765, 0.99996))


@pytest.mark.large
@pytest.mark.precise
@pytest.mark.derive
def test_a_long_training(check, rng):
    """Two thousand steps: the corrections fade, they do not stop, and steps are counted on."""
    check["AdamW"].driven("clear", away_from_zero(rng, (1,)), steps(rng, 2100, (1,)), lr=1e-3, betas=(0.997, 0.9995))


@pytest.mark.precise
@pytest.mark.derive
def test_faint_gradients_without_epsilon(check, rng):
    """With eps = 0 a gradient of 1e-25 makes steps as long as any other: nothing holds the root up."""
    gradients = [[1e-25 * (1.0 + rng.uniform(3, 4))] for _ in range(3)]
    check["AdamW"].driven("optimise", away_from_zero(rng, (3, 4)), gradients, lr=0.1, eps=0.0)


@pytest.mark.contract
@pytest.mark.parametrize(
    "settings",
    [
        {"lr": -0.1},
        {"eps": -1e-8},
        {"weight_decay": -0.01},
        {"betas": (1.0, 0.999)},
        {"betas": (0.9, 1.0)},
        {"betas": (-0.1, 0.999)},
        {"betas": (0.9, -0.1)},
    ],
)
def test_impossible_settings(check, settings):
    """Below 0, or a mean that forgets nothing: refused when the optimiser is built."""
    parameter = torch.ones(2, dtype=torch.float64)
    with check.raises(ValueError):
        check["AdamW"].driven("optimise", [parameter], [[parameter]], **settings)


@pytest.mark.contract
def test_no_parameters(check):
    """A generator that is used up already, most of the time."""
    with check.raises(ValueError):
        check["AdamW"].driven("optimise", [], [[]])


@pytest.mark.cost
def test_no_loop_over_numbers(check, rng):
    """A step costs as many calls for a large parameter as for a small one; nothing is larger than its two means."""
    small = check["AdamW"].driven("optimise", [rng.normal(4, 3)], steps(rng, 1, (4, 3))).cost
    large = check["AdamW"].driven("optimise", [rng.normal(64, 3)], steps(rng, 1, (64, 3))).cost
    check.no_loop(small, large, 60, "a step goes through the numbers of a parameter one by one")
    check.at_most(large.biggest, 2 * 64 * 3, "a tensor larger than both means together", large.biggest_line)
