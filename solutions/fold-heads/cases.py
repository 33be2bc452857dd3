"""Hidden cases of fold-heads."""

import pytest
import torch

only_integers = pytest.mark.derive("device", "contract")


def lengths(rng, *shape):
    """Draw distinct lengths."""
    return rng.permutation(torch.Size(shape).numel()).reshape(shape)


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    x = torch.tensor([[[1.0, 2.0, 3.0, 4.0]], [[5.0, 6.0, 7.0, 8.0]]])
    check["unfold_heads"](check["fold_heads"](x, 2), 2)
    check["repeat_valid_lens"](torch.tensor([9, 6]), 2)


def test_fold_two_tokens(check, rng):
    """The smallest input in which tokens and heads can be mixed up."""
    check["fold_heads"](rng.normal(1, 2, 4), 2)


def test_fold_two_sequences(check, rng):
    """The smallest input in which sequences and heads can be mixed up."""
    check["fold_heads"](rng.normal(2, 1, 4), 2)


def test_fold_where_all_sizes_differ(check, rng):
    """Two sequences of five tokens, three heads of four features."""
    check["fold_heads"](rng.normal(2, 5, 12), 3)


def test_fold_where_sizes_agree(check, rng):
    """B == S == H == d_head: the shape is right whichever way the axes are cut."""
    check["fold_heads"](rng.normal(3, 3, 9), 3)
    check["fold_heads"](rng.normal(4, 2, 8), 4)
    check["fold_heads"](rng.normal(4, 2, 8), 2)


def test_fold_sizes_of_one(check, rng):
    """One head, heads of width one, one sequence, one token: three axes stay."""
    check["fold_heads"](rng.normal(2, 3, 5), 1)
    check["fold_heads"](rng.normal(2, 3, 5), 5)
    check["fold_heads"](rng.normal(1, 4, 6), 3)
    check["fold_heads"](rng.normal(3, 1, 6), 2)
    check["fold_heads"](rng.normal(1, 1, 1), 1)


def test_fold_transposed_input(check, rng):
    """A sequence that was length first is a view whose memory is in another order."""
    check["fold_heads"](rng.normal(5, 2, 12).transpose(0, 1), 3)
    check["fold_heads"](rng.normal(2, 12, 5).transpose(1, 2), 3)


def test_fold_part_of_a_projection(check, rng):
    """Queries cut out of one wide projection leave gaps in memory; an expanded token has no memory of its own."""
    check["fold_heads"](rng.normal(2, 5, 18)[..., 6:12], 3)
    check["fold_heads"](rng.normal(1, 1, 6).expand(2, 4, 6), 2)


def test_fold_by_keyword(check, rng):
    """The names of the arguments are part of the contract."""
    check["fold_heads"](x=rng.normal(2, 3, 6), n_heads=3)


def test_unfold_two_tokens(check, rng):
    """The smallest input in which tokens and heads can be mixed up."""
    check["unfold_heads"](rng.normal(2, 2, 2), 2)


def test_unfold_two_sequences(check, rng):
    """The smallest input in which sequences and heads can be mixed up."""
    check["unfold_heads"](rng.normal(4, 1, 2), 2)


def test_unfold_where_all_sizes_differ(check, rng):
    """Two sequences of five tokens, three heads of four features."""
    check["unfold_heads"](rng.normal(6, 5, 4), 3)


def test_unfold_where_sizes_agree(check, rng):
    """B == H == S == d_head."""
    check["unfold_heads"](rng.normal(9, 3, 3), 3)
    check["unfold_heads"](rng.normal(8, 4, 2), 4)
    check["unfold_heads"](rng.normal(8, 4, 2), 2)


def test_unfold_sizes_of_one(check, rng):
    """One head, heads of width one, one sequence, one token: three axes stay."""
    check["unfold_heads"](rng.normal(2, 3, 5), 1)
    check["unfold_heads"](rng.normal(10, 3, 1), 5)
    check["unfold_heads"](rng.normal(3, 4, 2), 3)
    check["unfold_heads"](rng.normal(6, 1, 3), 2)
    check["unfold_heads"](rng.normal(1, 1, 1), 1)


def test_unfold_transposed_input(check, rng):
    """What attention returns need not be contiguous."""
    check["unfold_heads"](rng.normal(6, 4, 5).transpose(1, 2), 3)
    check["unfold_heads"](rng.normal(5, 6, 4).transpose(0, 1), 2)


def test_unfold_by_keyword(check, rng):
    """The names of the arguments are part of the contract."""
    check["unfold_heads"](x=rng.normal(6, 3, 2), n_heads=3)


def test_there_and_back(check, rng):
    """Unfolding what was folded gives the sequences again, bit for bit."""
    x = rng.normal(2, 5, 12)
    x[:, 1, ::2] = -0.0
    again = check["unfold_heads"](check["fold_heads"](x, 3), 3)
    check.that(torch.equal(again.got, x.to(again.got.dtype)), "fold_heads and unfold_heads do not undo each other")
    check.that(torch.equal(again.got.signbit(), x.signbit()), "-0.0 has become 0.0")


def test_back_and_there(check, rng):
    """Folding what was unfolded gives the rows again, bit for bit."""
    rows = rng.normal(8, 3, 5)
    rows[:, 1, ::2] = -0.0
    again = check["fold_heads"](check["unfold_heads"](rows, 4), 4)
    check.that(torch.equal(again.got, rows.to(again.got.dtype)), "fold_heads and unfold_heads do not undo each other")
    check.that(torch.equal(again.got.signbit(), rows.signbit()), "-0.0 has become 0.0")


@only_integers
def test_lengths_of_sequences(check, rng):
    """Each length stands once for each head, in the order of the folded rows."""
    check["repeat_valid_lens"](lengths(rng, 3), 2)
    check["repeat_valid_lens"](lengths(rng, 2), 5)


@only_integers
def test_as_many_lengths_as_heads(check, rng):
    """B == H: the order is all that tells right from wrong."""
    check["repeat_valid_lens"](lengths(rng, 3), 3)
    check["repeat_valid_lens"](lengths(rng, 3, 3), 3)


@only_integers
def test_lengths_of_queries(check, rng):
    """A row of lengths stays a row."""
    check["repeat_valid_lens"](lengths(rng, 3, 4), 2)
    check["repeat_valid_lens"](lengths(rng, 2, 3), 4)


@only_integers
def test_lengths_sizes_of_one(check, rng):
    """One sequence, one query, one head: the number of axes stays."""
    check["repeat_valid_lens"](lengths(rng, 1), 3)
    check["repeat_valid_lens"](lengths(rng, 3), 1)
    check["repeat_valid_lens"](lengths(rng, 1, 4), 3)
    check["repeat_valid_lens"](lengths(rng, 3, 1), 2)
    check["repeat_valid_lens"](lengths(rng, 2, 3), 1)


@only_integers
def test_lengths_in_views(check, rng):
    """Transposed and expanded lengths."""
    check["repeat_valid_lens"](lengths(rng, 4, 3).T, 2)
    check["repeat_valid_lens"](lengths(rng, 1, 4).expand(3, 4), 2)
    check["repeat_valid_lens"](lengths(rng, 6)[::2], 2)


@only_integers
def test_no_lengths(check):
    """None means that everything is visible, with many heads as with one."""
    check["repeat_valid_lens"](None, 3)
    check["repeat_valid_lens"](valid_lens=None, n_heads=1)


@pytest.mark.contract
@pytest.mark.parametrize(("d_model", "n_heads"), [(10, 3), (4, 8), (7, 2), (12, 5)])
def test_width_not_divisible_by_heads(check, rng, d_model, n_heads):
    """A width that the heads cannot share is refused, also where the entries would fit."""
    with check.raises(ValueError):
        check["fold_heads"](rng.normal(3, n_heads, d_model), n_heads)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    check["fold_heads"](rng.normal(9, 2, 70), 10)
    check["fold_heads"](rng.normal(1, 300, 4, scale=3e4), 2)
    check["unfold_heads"](rng.normal(18, 2, 70), 9)
    check["unfold_heads"](rng.normal(2, 300, 2, scale=3e4), 2)
    check["repeat_valid_lens"](lengths(rng, 9, 70), 9)
    check["repeat_valid_lens"](70000 + lengths(rng, 3), 2)
    check["unfold_heads"](rng.normal(16, 3, 2), 4)
    check["repeat_valid_lens"](lengths(rng, 3, 1), 1)
    for heads in (33, 130):
        check["fold_heads"](rng.normal(2, 3, 2 * heads), heads)
        check["unfold_heads"](rng.normal(2 * heads, 3, 2), heads)
        check["repeat_valid_lens"](lengths(rng, 2), heads)
        check["repeat_valid_lens"](lengths(rng, 2, 3), heads)
