"""Hidden cases of lr-schedule."""

import pytest


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    for step in (0, 1, 4, 16):
        check["noam"](step, 4, 4)
    for step in (0, 1, 2, 6, 10):
        check["cosine"](step, 1.0, 2, 10, 0.2)


@pytest.mark.parametrize("step", [1, 2, 17, 100])
def test_noam_while_it_rises(check, step):
    """In proportion to the step."""
    check["noam"](step, 512, 100)


@pytest.mark.parametrize("step", [100, 101, 400, 100000])
def test_noam_when_it_falls(check, step):
    """With the root of the step, from the peak on."""
    check["noam"](step, 512, 100)


def test_noam_around_the_peak(check):
    """The last step up, the peak, the first step down."""
    for step in (3999, 4000, 4001):
        check["noam"](step, 512, 4000)


@pytest.mark.parametrize("d_model", [1, 2, 64, 1024])
def test_noam_of_other_widths(check, d_model):
    """Wider models take smaller steps: a quarter of the rate at sixteen times the width."""
    check["noam"](3, d_model, 10)
    check["noam"](30, d_model, 10)


def test_noam_before_the_first_step(check):
    """Step 0, with which a scheduler begins: the rate is 0, and nothing is divided by it."""
    check["noam"](0, 512, 4000)
    check["noam"](0, 16, 1)


def test_noam_with_one_step_of_warmup(check):
    """The first step is the peak."""
    for step in (1, 2, 3):
        check["noam"](step, 16, 1)


def test_noam_by_name(check):
    """The names of the arguments are part of the contract."""
    check["noam"](warmup=20, step=7, d_model=36)


@pytest.mark.parametrize("step", [0, 1, 5, 9])
def test_cosine_while_it_rises(check, step):
    """In a line from 0, wherever the floor is."""
    check["cosine"](step, 0.3, 10, 50)
    check["cosine"](step, 0.3, 10, 50, 0.1)


def test_cosine_around_the_peak(check):
    """The last step up, the peak itself, the first step down."""
    for step in (9, 10, 11):
        check["cosine"](step, 0.3, 10, 50, 0.1)


@pytest.mark.parametrize("step", [15, 20, 30, 40, 49])
def test_cosine_when_it_falls(check, step):
    """Half a wave over the steps behind the warm-up."""
    check["cosine"](step, 0.3, 10, 50)
    check["cosine"](step, 0.3, 10, 50, 0.1)


@pytest.mark.parametrize("step", [50, 51, 77, 90, 1000])
def test_cosine_beyond_the_end(check, step):
    """From the last step on the rate is the floor: it neither rises again nor ends at 0."""
    check["cosine"](step, 0.3, 10, 50)
    check["cosine"](step, 0.3, 10, 50, 0.1)


def test_cosine_without_warmup(check):
    """The first step has the peak."""
    for step in (0, 1, 5, 8, 9):
        check["cosine"](step, 2.0, 0, 8, 0.5)


def test_cosine_that_is_all_warmup(check):
    """No step is left for the wave: up, and then the floor."""
    for step in (0, 3, 7, 8, 9):
        check["cosine"](step, 2.0, 8, 8, 0.5)
    for step in (0, 1, 299, 300, 301):
        check["cosine"](step, 2.0, 300, 300, 0.5)
        check["cosine"](step, 2.0, 1, 1, 0.5)
        check["cosine"](step, 2.0, 1, 300, 0.5)


def test_cosine_without_any_step(check):
    """total = 0: the end was at the beginning."""
    check["cosine"](0, 2.0, 0, 0, 0.5)


def test_cosine_by_name(check):
    """The names of the arguments are part of the contract; the floor is 0 unless somebody says otherwise."""
    check["cosine"](total=20, warmup=3, peak=0.01, step=11)
    check["cosine"](floor=0.001, total=20, warmup=3, peak=0.01, step=11)


def test_a_floor_as_high_as_the_peak(check):
    """A warm-up, and then a constant."""
    for step in (1, 4, 7, 30):
        check["cosine"](step, 0.25, 4, 20, 0.25)


@pytest.mark.precise
@pytest.mark.parametrize("total", [21, 100_003])
def test_cosine_of_other_rates(check, total):
    """A peak of 0, a peak below the floor, rates of a millionth: the rule is the same."""
    for step in (1, 4, 7, 20, total - 1, total):
        for peak, floor in ((0.0, 0.0), (0.0, 0.25), (0.125, 0.5), (3e-6, 1e-7)):
            check["cosine"](step, peak, 4, total, floor)


@pytest.mark.precise
def test_every_digit(check, rng):
    """A Python float has sixteen digits, also where the rate is tiny and the training endless."""
    for step, d_model, warmup in ((1, 1_000_000, 1_000_000), (7_654_321, 3000, 100_001), (12_345, 2050, 20_000)):
        check["noam"](step, d_model, warmup)
    for step in rng.integers(1, 3_000_000, 6).tolist():
        check["noam"](step, 1000, 4001)
        check["cosine"](step, 6e-4, 2001, 3_000_003, 6e-5)
    for step in (7, 1234, 2000):
        check["cosine"](step, 6e-4, 2001, 3_000_003, 6e-5)


def test_each_argument_counts(check):
    """The same step in another training: one argument at a time is another one."""
    for d_model, warmup in ((64, 100), (64, 30), (80, 30), (80, 7)):
        check["noam"](20, d_model, warmup)
    for peak, warmup, total, floor in (
        *((1.0, 10, 50, 0.1), (0.5, 10, 50, 0.1), (0.5, 5, 50, 0.1)),
        *((0.5, 5, 70, 0.1), (0.5, 5, 70, 0.0), (0.5, 30, 70, 0.0), (0.25, 30, 70, 0.0)),
    ):
        check["cosine"](20, peak, warmup, total, floor)


def test_a_whole_training(check, rng):
    """Any step of a long run, with sizes that people use."""
    warmup, total = int(rng.integers(300, 3000, 1)), int(rng.integers(50_000, 90_000, 1))
    for step in rng.integers(1, 100_000, 12).tolist():
        check["noam"](step, 1024, warmup)
        check["cosine"](step, 6e-4, warmup, total, 6e-5)
        check["cosine"](step, 3.0, warmup, total, 1.0)


@pytest.mark.contract
@pytest.mark.parametrize("arguments", [(-1, 512, 100), (5, 512, 0), (5, 512, -3), (0, 512, 0)])
def test_noam_of_the_impossible(check, arguments):
    """A step below 0, or a warm-up that is not there."""
    with check.raises(ValueError):
        check["noam"](*arguments)


@pytest.mark.contract
@pytest.mark.parametrize(
    "arguments", [(-1, 0.1, 2, 9), (3, 0.1, -2, 9), (3, 0.1, 10, 9), (20, 0.1, 10, 9), (0, 0.1, 10, 9)]
)
def test_cosine_of_the_impossible(check, arguments):
    """A step or a warm-up below 0, or a warm-up that takes longer than all."""
    with check.raises(ValueError):
        check["cosine"](*arguments)
