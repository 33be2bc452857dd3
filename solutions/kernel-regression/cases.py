"""Hidden cases of kernel-regression."""

import pytest
import torch

from grader.kit.defaults import loaded_since, of_everything

# Half precision is tried where exponents are small, or exact: rounding of large ones is not the learner's.
without_dtype = pytest.mark.derive("grad", "device", "contract")


def places(rng, *shape):
    """Draw places close enough to each other that many keys count."""
    return rng.uniform(*shape, low=-1.25, high=1.25)


def known(rng, *shape):
    """Draw values around 2, so that half precision averages nothing away."""
    return 2.0 + rng.normal(*shape)


def scattered(rng, m):
    """Return the integers below m in random order: the nearest key is nearer by far."""
    return rng.permutation(m).double()


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    x_query, x_key, y_key = torch.tensor([1.0, 100.0]), torch.tensor([0.0, 1.0, 2.0]), torch.tensor([0.0, 10.0, 40.0])
    check["nadaraya_watson"](x_query, x_key, y_key)


def test_two_queries_three_keys(check, rng):
    """The smallest call with something to weigh."""
    check["nadaraya_watson"](places(rng, 2), places(rng, 3), known(rng, 3))


def test_more_keys_or_more_queries(check, rng):
    """n and m have nothing to do with each other."""
    check["nadaraya_watson"](places(rng, 4), places(rng, 7), known(rng, 7))
    check["nadaraya_watson"](places(rng, 6), places(rng, 3), known(rng, 3))


def test_as_many_queries_as_keys(check, rng):
    """n == m: a transposed matrix would fit as well."""
    check["nadaraya_watson"](places(rng, 5), places(rng, 5), known(rng, 5))


def test_sizes_of_one(check, rng):
    """One query, one key: the axes stay."""
    check["nadaraya_watson"](places(rng, 1), places(rng, 4), known(rng, 4))
    check["nadaraya_watson"](places(rng, 4), places(rng, 1), known(rng, 1))
    check["nadaraya_watson"](places(rng, 1), places(rng, 1), known(rng, 1))


def test_wide_kernel(check, rng):
    """A bandwidth of 2 or 3 evens the weights out."""
    check["nadaraya_watson"](places(rng, 4), places(rng, 6), known(rng, 6), 2.0)
    check["nadaraya_watson"](places(rng, 4), places(rng, 6), known(rng, 6), bandwidth=3)


@without_dtype
@pytest.mark.parametrize("bandwidth", [0.5, 0.3])
def test_narrow_kernel(check, rng, bandwidth):
    """A small bandwidth listens to the nearest keys."""
    check["nadaraya_watson"](places(rng, 4), places(rng, 6), known(rng, 6), bandwidth=bandwidth)


@without_dtype
def test_queries_at_the_keys(check, rng):
    """A distance of 0 is a distance."""
    x = rng.normal(5)
    check["nadaraya_watson"](x, x, known(rng, 5), 0.7)


def test_by_keyword(check, rng):
    """The names of the arguments are part of the contract."""
    x, y = places(rng, 5), known(rng, 5)
    check["nadaraya_watson"](x_query=places(rng, 3), x_key=x, y_key=y, bandwidth=1.5)


def test_strided_inputs(check, rng):
    """Columns of a table of points are views."""
    points = torch.stack([places(rng, 5), known(rng, 5)], dim=-1)
    check["nadaraya_watson"](places(rng, 6)[::2], points[:, 0], points[:, 1])


def test_queries_far_from_all_keys(check, rng):
    """Where every kernel underflows the nearest key takes it all, on either side."""
    queries = torch.tensor([48.0, -40.0, 64.0], dtype=torch.float64)
    check["nadaraya_watson"](queries, scattered(rng, 5), known(rng, 5))


def test_far_and_near_queries_together(check, rng):
    """What is far away for one query is nothing to the others."""
    queries = torch.tensor([0.5, 90.0, 2.25, -56.0], dtype=torch.float64)
    check["nadaraya_watson"](queries, scattered(rng, 4), known(rng, 4))


@without_dtype
@pytest.mark.parametrize("distance", [1e4, 1e6])
def test_queries_out_of_sight(check, rng, distance):
    """However far away: the weights of a query still add up to 1."""
    queries = torch.tensor([distance, -distance, 1.25], dtype=torch.float64)
    check["nadaraya_watson"](queries, scattered(rng, 5), known(rng, 5))


@without_dtype
def test_very_narrow_kernel(check, rng):
    """Between two keys, with a kernel that reaches neither: the nearer one it is."""
    queries = torch.tensor([0.25, 2.75, 1.125], dtype=torch.float64)
    check["nadaraya_watson"](queries, scattered(rng, 5), known(rng, 5), bandwidth=0.01)


def test_far_from_keys_close_together(check, rng):
    """In float64 exponents of -8192 differ by about one: the digits must not get lost on the way."""
    far = 128.0 if check.dtype == torch.float64 else 1.0
    with of_everything(check):
        check["nadaraya_watson"](far + places(rng, 64) / far, places(rng, 5) / far, known(rng, 5))


def test_module_with_keys_for_all(check, rng):
    """Keys and values (m,) are shared by all queries."""
    regression = check["NWKernelRegression"]()
    regression(places(rng, 4), places(rng, 6), known(rng, 6))
    regression(places(rng, 5), places(rng, 5), known(rng, 5))


def test_module_with_keys_for_each_query(check, rng):
    """Keys and values (n, m): row i belongs to query i."""
    regression = check["NWKernelRegression"]()
    regression(places(rng, 4), places(rng, 4, 6), known(rng, 4, 6))
    regression(places(rng, 6), places(rng, 6, 3), known(rng, 6, 3))


def test_module_where_rows_and_columns_agree(check, rng):
    """n == m: rows are still queries."""
    regression = check["NWKernelRegression"]()
    regression(places(rng, 5), places(rng, 5, 5), known(rng, 5, 5))
    regression(places(rng, 5), places(rng, 5, 5).T, known(rng, 5, 5).T)


def test_module_with_sizes_of_one(check, rng):
    """One query, one key, in both shapes."""
    regression = check["NWKernelRegression"]()
    regression(places(rng, 1), places(rng, 4), known(rng, 4))
    regression(places(rng, 1), places(rng, 1, 4), known(rng, 1, 4))
    regression(places(rng, 3), places(rng, 1), known(rng, 1))
    regression(places(rng, 3), places(rng, 3, 1), known(rng, 3, 1))


@pytest.mark.parametrize("w", [0.5, -0.75, 0.0])
def test_module_with_another_w(check, rng, w):
    """w multiplies the distance; its sign does not matter, and at 0 neither do the distances."""
    regression = check["NWKernelRegression"]().set(w=torch.tensor(w, dtype=torch.float64))
    regression(places(rng, 4), places(rng, 6), known(rng, 6))
    regression(places(rng, 3), places(rng, 3, 5), known(rng, 3, 5))


@without_dtype
def test_module_with_a_large_w(check, rng):
    """A large w is a narrow kernel."""
    regression = check["NWKernelRegression"]().set(w=torch.tensor(3.0, dtype=torch.float64))
    regression(places(rng, 4), places(rng, 6), known(rng, 6))
    regression(places(rng, 3), places(rng, 3, 5), known(rng, 3, 5))


def test_module_far_from_all_keys(check, rng):
    """The module knows no 0 / 0 either."""
    regression = check["NWKernelRegression"]().set(w=torch.tensor(1.0, dtype=torch.float64))
    queries = torch.tensor([48.0, 1.25, -40.0], dtype=torch.float64)
    regression(queries, scattered(rng, 5), known(rng, 5))
    regression(queries, torch.stack([scattered(rng, 5) for _ in range(3)]), known(rng, 3, 5))


@without_dtype
def test_module_out_of_sight(check, rng):
    """A thousand away, with a w of a thousand."""
    regression = check["NWKernelRegression"]().set(w=torch.tensor(1e3, dtype=torch.float64))
    queries = torch.tensor([1e3, 1.25, -1e3], dtype=torch.float64)
    regression(queries, scattered(rng, 5), known(rng, 5))


def test_module_is_used_twice(check, rng):
    """A module keeps nothing from one call to the next, in training as in evaluation."""
    regression = check["NWKernelRegression"]().train()
    first = places(rng, 4), places(rng, 6), known(rng, 6)
    before = regression(*first)
    regression(places(rng, 2), places(rng, 2, 3), known(rng, 2, 3))
    check.same(before, regression(*first), "the same call gave another result the second time")


def test_module_and_function_agree(check, rng):
    """w is 1 / bandwidth."""
    regression = check["NWKernelRegression"]().set(w=torch.tensor(0.5, dtype=torch.float64))
    inputs = places(rng, 4), places(rng, 6), known(rng, 6)
    y_query, _ = check["nadaraya_watson"](*inputs, bandwidth=2.0)
    check.close(regression(*inputs), y_query, "a w of 0.5 and a bandwidth of 2 give different predictions")


def zigzag(rng, n):
    """Draw n points whose values go up and down: what the neighbours say is far off, also in half precision."""
    return torch.arange(n).double() / 2 + rng.uniform(n, high=0.25), 4.0 * (-1.0) ** torch.arange(n) + rng.uniform(n)


def test_points_without_oneself(check, rng):
    """Row i has all points but i, in their order."""
    check["leave_one_out"](places(rng, 5), known(rng, 5))
    check["leave_one_out"](places(rng, 2), known(rng, 2))


def test_points_that_lie_apart_in_memory(check, rng):
    """Columns of a table of points are views, and one tensor may be both."""
    points = torch.stack([places(rng, 6), known(rng, 6)], dim=-1)
    check["leave_one_out"](points[:, 0], points[:, 1])
    check["leave_one_out"](points[:, 1], points[:, 1])


def test_loss(check, rng):
    """The mean of the squared errors, each point predicted from all others."""
    regression = check["NWKernelRegression"]().set(w=torch.tensor(1.0, dtype=torch.float64))
    regression.method("loss", *zigzag(rng, 6))


@without_dtype
@pytest.mark.parametrize("w", [0.0, -0.75, 2.0])
def test_loss_with_another_w(check, rng, w):
    """What it says of w: flat for a wide kernel, the nearest neighbour's error for a narrow one."""
    regression = check["NWKernelRegression"]().set(w=torch.tensor(w, dtype=torch.float64))
    regression.method("loss", places(rng, 7), known(rng, 7))


@without_dtype
def test_loss_of_two_points(check, rng):
    """Each has one other point: w makes no difference, and gets no gradient."""
    check["NWKernelRegression"]().method("loss", places(rng, 2), known(rng, 2))


@without_dtype
def test_loss_with_a_narrow_kernel(check, rng):
    """A point's own key is not there to be found, however narrow the kernel is."""
    regression = check["NWKernelRegression"]().set(w=torch.tensor(64.0, dtype=torch.float64))
    x = scattered(rng, 6)
    regression.method("loss", x + 0.25 * rng.uniform(6), known(rng, 6))


@pytest.mark.grad
@pytest.mark.trains
def test_w_is_learned(check):
    """Trained by its own loss, w finds the width of the kernel that the points call for."""
    steps = torch.arange(40).double()
    x = 0.125 * steps
    y = 2 * torch.sin(x) + x**0.8 + 0.25 * torch.cos(37 * steps)
    regression = check["NWKernelRegression"]().as_built()
    before = regression.method("loss", x, y).want.item()
    order = torch.arange(40).expand(60, 40)
    learned = regression.learn("loss", (x, y), order, torch.full((60,), 0.1, dtype=torch.float64))
    after = learned.method("loss", x, y).want.item()
    check.that(after < 0.5 * before, f"trained, it has a loss of {after:.3f}, untrained {before:.3f}")


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_faint_weights(check, rng):
    """A weight of 1e-100 is a weight, to all its digits: the value behind it may be as large."""
    x_key, y_key = torch.tensor([0.0, 0.5, 21.5], dtype=torch.float64), known(rng, 3)
    y_key[2] *= 1e100
    result = check["nadaraya_watson"](places(rng, 3) / 4, x_key, y_key)
    faint = (result[1].got - result[1].want).abs() <= 1e-9 * result[1].want
    check.that(bool(faint.all()), "a faint weight has lost its digits")
    check["NWKernelRegression"]()(places(rng, 3) / 4, x_key, y_key)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    check["nadaraya_watson"](places(rng, 300), places(rng, 300), known(rng, 300))
    x, y = places(rng, 4), known(rng, 4)
    check["nadaraya_watson"](x, y, x)
    check["nadaraya_watson"](y, x, x)
    regression = check["NWKernelRegression"]()
    for arguments in ((x, x, y), (x, y, x), (y, x, x)):
        regression(*arguments)
    regression(places(rng, 9), places(rng, 9, 70), known(rng, 9, 70))
    regression(3e4 + x, 3e4 + places(rng, 5), known(rng, 5))
    for n in (3, 9, 70, 300):
        x, y = places(rng, n), known(rng, n)
        check["leave_one_out"](x, y)
        regression.method("loss", x, y)
    regression.train().method("loss", x, y)
    regression.eval().method("loss", x, y)
    regression.method("loss", 3e4 + x, y)
    regression.method("loss", x, x.clone())
    check["leave_one_out"](3e4 * x, 3e4 * y)
    sliced = places(rng, 3, 10)[:, :5], known(rng, 3, 10)[:, 2:7]
    regression(places(rng, 3), *sliced)
    regression.set(w=rng.uniform(low=0.5)).method("loss", x, y)


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    x = scale + places(rng, 5).abs()  # no mean is near 0, where half precision has nothing to hold on to
    check["nadaraya_watson"](x, x, x)
    check["NWKernelRegression"]()(x, x, x)
    apart = 4.0 * scale * rng.permutation(6).double()  # errors of halves are nothing beside those of the last points
    check["leave_one_out"](apart, apart)
    check["NWKernelRegression"]().set(w=torch.tensor(1.0, dtype=torch.float64)).method("loss", apart, apart)


def test_loss_of_twins(check, rng):
    """Points at one place are others to each other: each predicts the next one."""
    regression = check["NWKernelRegression"]().set(w=torch.tensor(1.0, dtype=torch.float64))
    x = torch.tensor([0.0, 0.0, 1.0, 1.0, 1.0, 2.5], dtype=torch.float64)
    regression.method("loss", x, known(rng, 6))


@without_dtype
def test_places_far_from_zero(check, rng):
    """Years: what counts is how far apart they are, not how far from 0."""
    queries, keys = 2016.0 + places(rng, 3), 2016.0 + 2 * places(rng, 5)
    check["nadaraya_watson"](queries, keys, known(rng, 5))
    check["NWKernelRegression"]()(queries, keys, known(rng, 5))
    queries, keys = 2016.0 + places(rng, 30), 2016.0 + 2 * places(rng, 40)  # so many that products would be quicker
    check["nadaraya_watson"](queries, keys, known(rng, 40))
    check["NWKernelRegression"]()(queries, keys, known(rng, 40))


@pytest.mark.derive("grad")
def test_loss_with_a_w_that_was_loaded(check, rng):
    """The loss asks what w is now, as a call does."""
    regression = check["NWKernelRegression"]().set(w=rng.uniform(low=0.5))
    with loaded_since(check):
        regression(places(rng, 3), places(rng, 5), known(rng, 5))
    regression.method("loss", places(rng, 6), known(rng, 6))
