"""Hidden cases of mask-dialects."""

import pytest
import torch

LOWEST = torch.finfo(torch.float32).min
INFINITY = float("-inf")
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32]


def additive(keep, level):
    """Write a mask as numbers to be added to the scores."""
    return torch.where(keep, 0.0, torch.as_tensor(level, dtype=torch.float64))


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    check(torch.tensor([1, 1, 0]), "keep")
    check(torch.tensor([False, False, True]), "hide")
    check(torch.tensor([0.0, 0.0, -1e9]), "additive")


@pytest.mark.derive("device", "contract")
def test_keep_bools(check, rng):
    """In this dialect True says that a key is visible, as in the result."""
    check(rng.keep(3, 5), "keep")


@pytest.mark.derive("device", "contract")
def test_hide_bools(check, rng):
    """In this dialect True says that a key is hidden."""
    check(rng.keep(3, 5), "hide")


@pytest.mark.derive("device", "contract")
def test_keep_zeros_and_ones(check, rng):
    """1 is a token, 0 is padding; the result holds bools."""
    check(rng.keep(3, 5).long(), "keep")


@pytest.mark.derive("device", "contract")
def test_hide_zeros_and_ones(check, rng):
    """1 is padding, 0 is a token; integers know other negations than bools."""
    check(rng.keep(3, 5).long(), "hide")


@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize("dtype", INTEGERS)
def test_small_integers(check, rng, dtype):
    """Zeros and ones come in several integer types."""
    check(rng.keep(2, 5).to(dtype), "keep")
    check(rng.keep(2, 5).to(dtype), "hide")


@pytest.mark.parametrize("level", [INFINITY, LOWEST, -1e20, -1e9, -65504.0, -32768.0])
def test_additive(check, rng, level):
    """The many ways to write minus infinity; one row has nothing else, and then the whole mask."""
    keep = rng.keep(2, 3, 5)
    keep[1, 2] = False
    check(additive(keep, level), "additive")
    check(additive(torch.zeros_like(keep), level), "additive")


def test_additive_minus_ten_thousand(check, rng):
    """The stand-in for minus infinity of the first BERT, also in a row of nothing else; bfloat16 makes -9984 of it."""
    keep = rng.keep(3, 5)
    keep[1] = False
    check(additive(keep, -1e4), "additive")
    check(additive(torch.zeros_like(keep), -1e4), "additive")


def test_additive_with_several_levels(check, rng):
    """A mask for padding and one for the future, added: each has its own minus infinity, and some keys get both."""
    padding, causal = rng.keep(2, 1, 1, 5), torch.ones(5, 5, dtype=torch.bool).tril()
    check(additive(padding, -1e9) + additive(causal, INFINITY), "additive")
    check(additive(padding, -32768.0) + additive(causal, -65504.0), "additive")
    check(additive(padding, LOWEST) + additive(causal, LOWEST), "additive")


def test_additive_with_negative_zeros(check, rng):
    """(1 - keep) * -65504 makes a -0.0 of what is visible."""
    keep = rng.keep(3, 5)
    check((1.0 - keep.double()) * -65504.0, "additive")
    check(torch.full((2, 3), -0.0, dtype=torch.float64), "additive")


@pytest.mark.derive("device", "contract")
def test_everything_and_nothing(check):
    """What a mask holds does not tell its dialect."""
    ones, zeros = torch.ones(2, 3), torch.zeros(2, 3)
    for dtype in (torch.bool, torch.int64):
        for mask in (ones.to(dtype), zeros.to(dtype)):
            check(mask, "keep")
            check(mask, "hide")
    check(zeros.double(), "additive")
    check(zeros.double() + INFINITY, "additive")
    check(zeros.double() - 1e9, "additive")


@pytest.mark.parametrize("shape", [(), (1,), (6,), (3, 1), (2, 1, 1, 5), (2, 3, 4, 5)])
def test_any_shape(check, rng, shape):
    """The shape stays, whatever it is."""
    keep = rng.keep(*shape) if shape else torch.tensor(True)
    check(keep, "keep")
    check(keep.long(), "hide")
    check(additive(keep, INFINITY), "additive")
    check(additive(~keep, -1e9), "additive")


def test_views(check, rng):
    """Transposed and expanded masks."""
    keep = rng.keep(4, 5).T
    check(keep, "hide")
    check(keep.long(), "keep")
    check(additive(keep, -65504.0), "additive")
    check(rng.keep(2, 1, 5).expand(2, 3, 5), "hide")
    check(rng.keep(1, 5).long().expand(4, 5), "hide")
    check(additive(rng.keep(2, 1, 5), INFINITY).expand(2, 3, 5), "additive")


@pytest.mark.derive("device", "contract")
def test_by_keyword(check, rng):
    """The names of the arguments are part of the contract."""
    check(mask=rng.keep(2, 4), dialect="hide")


@pytest.mark.derive("device", "contract")
def test_masks_are_not_used_up(check, rng):
    """The same mask, translated twice, says the same twice."""
    for dialect in ("keep", "hide"):
        mask = rng.keep(3, 4)
        before = check(mask, dialect)
        check.same(before, check(mask, dialect), "the second time the same mask gave another result")


@pytest.mark.contract
@pytest.mark.parametrize("dialect", ["show", "mask", "float", "bool", "", "a", "add", "Additive", "hid", "keep "])
def test_unknown_dialect(check, rng, dialect):
    """A dialect that nobody speaks is refused, for bools and for numbers, however near the name comes to one."""
    keep = rng.keep(2, 4)
    with check.raises(ValueError):
        check(keep, dialect)
    with check.raises(ValueError):
        check(additive(keep, INFINITY), dialect)


@pytest.mark.contract
def test_unknown_dialect_of_numbers(check, rng):
    """Also where the dtype would allow a guess, or where there is nothing to translate."""
    with check.raises(ValueError):
        check(additive(rng.keep(2, 4), INFINITY), "bias")
    with check.raises(ValueError):
        check(rng.keep(2, 4).long(), "padding")
    with check.raises(ValueError):
        check(torch.zeros(2, 0), "bias")
    with check.raises(ValueError):
        check(torch.zeros(0, dtype=torch.bool), "additive")


@pytest.mark.contract
@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.int32, torch.uint8])
def test_additive_is_floating_point(check, rng, dtype):
    """Bools and integers cannot be added to scores to hide a key: this is another dialect under a wrong name."""
    with check.raises(ValueError):
        check(rng.keep(2, 4).to(dtype), "additive")


@pytest.mark.derive
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    check(rng.keep(9, 300, 70), "hide")
    for shape in ((1, 2, 3, 4), (9, 1, 2, 3), (3, 3, 3, 3)):
        check(rng.keep(*shape), "keep")
    half = rng.keep(3, 4)
    half[1] = False
    check(half, "keep")
