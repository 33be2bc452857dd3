"""Hidden cases of split-heads."""

import pytest
import torch


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    x = torch.tensor([[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]])
    check["concat_heads"](check["split_heads"](x, 2))


def test_split_one_token(check, rng):
    """One token, two heads."""
    check["split_heads"](rng.normal(1, 1, 4), 2)


def test_split_two_tokens(check, rng):
    """The smallest input in which tokens and heads can be mixed up."""
    check["split_heads"](rng.normal(1, 2, 4), 2)


def test_split_where_all_sizes_differ(check, rng):
    """Two sequences of five tokens, three heads of four features."""
    check["split_heads"](rng.normal(2, 5, 12), 3)


def test_split_as_many_tokens_as_heads(check, rng):
    """B == S == H == d_head: the shape is right whichever way the axes are cut."""
    check["split_heads"](rng.normal(3, 3, 9), 3)
    check["split_heads"](rng.normal(4, 2, 8), 4)
    check["split_heads"](rng.normal(4, 2, 8), 2)


def test_split_into_one_head(check, rng):
    """A single head takes it all."""
    check["split_heads"](rng.normal(2, 3, 5), 1)


def test_split_into_heads_of_width_one(check, rng):
    """As many heads as features."""
    check["split_heads"](rng.normal(2, 3, 5), 5)


def test_split_sizes_of_one(check, rng):
    """Axes of size 1 stay."""
    check["split_heads"](rng.normal(1, 1, 1), 1)
    check["split_heads"](rng.normal(3, 1, 6), 2)
    check["split_heads"](rng.normal(1, 4, 6), 3)


def test_split_by_keyword(check, rng):
    """The names of the arguments are part of the contract."""
    check["split_heads"](x=rng.normal(2, 3, 6), n_heads=3)


def test_split_transposed_input(check, rng):
    """A sequence that was length first is a view whose memory is in another order."""
    check["split_heads"](rng.normal(5, 2, 12).transpose(0, 1), 3)
    check["split_heads"](rng.normal(2, 12, 5).transpose(1, 2), 3)


def test_split_part_of_a_projection(check, rng):
    """Queries cut out of one wide projection leave gaps in memory."""
    wide = rng.normal(2, 5, 18)
    check["split_heads"](wide[..., 6:12], 3)
    check["split_heads"](wide[:, ::2], 3)


def test_split_one_token_for_all(check, rng):
    """An expanded tensor has no memory of its own."""
    check["split_heads"](rng.normal(1, 1, 6).expand(2, 4, 6), 2)


def test_concat_one_token(check, rng):
    """Two heads of one token."""
    check["concat_heads"](rng.normal(1, 2, 1, 3))


def test_concat_two_tokens(check, rng):
    """The smallest input in which tokens and heads can be mixed up."""
    check["concat_heads"](rng.normal(1, 2, 2, 2))


def test_concat_where_all_sizes_differ(check, rng):
    """Two sequences of five tokens, three heads of four features."""
    check["concat_heads"](rng.normal(2, 3, 5, 4))


def test_concat_as_many_tokens_as_heads(check, rng):
    """B == H == S == d_head."""
    check["concat_heads"](rng.normal(3, 3, 3, 3))
    check["concat_heads"](rng.normal(2, 4, 4, 2))


def test_concat_sizes_of_one(check, rng):
    """Axes of size 1 stay, one head is the whole width."""
    check["concat_heads"](rng.normal(1, 1, 1, 1))
    check["concat_heads"](rng.normal(3, 1, 4, 2))
    check["concat_heads"](rng.normal(3, 2, 1, 4))
    check["concat_heads"](rng.normal(2, 5, 3, 1))


def test_concat_contiguous_input(check, rng):
    """Heads as a matrix product leaves them."""
    check["concat_heads"](rng.normal(2, 3, 5, 4).contiguous())


def test_concat_transposed_input(check, rng):
    """Heads as split_heads leaves them: already a view."""
    check["concat_heads"](rng.normal(2, 5, 3, 4).transpose(1, 2))
    check["concat_heads"](rng.normal(2, 3, 4, 5).transpose(2, 3))
    check["concat_heads"](rng.normal(5, 3, 4, 2).permute(3, 1, 0, 2))


def test_concat_by_keyword(check, rng):
    """The name of the argument is part of the contract."""
    check["concat_heads"](x=rng.normal(2, 3, 5, 4))


def test_there_and_back(check, rng):
    """Concatenating what was split gives the sequence again, bit for bit."""
    x = rng.normal(2, 5, 12)
    x[:, 1, ::2] = -0.0
    again = check["concat_heads"](check["split_heads"](x, 3))
    check.that(torch.equal(again.got, x.to(again.got.dtype)), "split_heads and concat_heads do not undo each other")
    check.that(torch.equal(again.got.signbit(), x.signbit()), "-0.0 has become 0.0")


def test_back_and_there(check, rng):
    """Splitting what was concatenated gives the heads again, bit for bit."""
    heads = rng.normal(2, 4, 3, 5)
    heads[:, :, 1, ::2] = -0.0
    again = check["split_heads"](check["concat_heads"](heads), 4)
    check.that(torch.equal(again.got, heads.to(again.got.dtype)), "split_heads and concat_heads do not undo each other")
    check.that(torch.equal(again.got.signbit(), heads.signbit()), "-0.0 has become 0.0")


@pytest.mark.contract
@pytest.mark.parametrize(("d_model", "n_heads"), [(10, 3), (4, 8), (7, 2), (12, 5)])
def test_width_not_divisible_by_heads(check, rng, d_model, n_heads):
    """A width that the heads cannot share is refused, also where the entries would fit."""
    with check.raises(ValueError):
        check["split_heads"](rng.normal(3, n_heads, d_model), n_heads)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    check["split_heads"](rng.normal(9, 2, 70), 10)
    check["split_heads"](rng.normal(1, 300, 4, scale=3e4), 2)
    check["concat_heads"](rng.normal(9, 2, 1, 70))
    check["concat_heads"](rng.normal(1, 9, 300, 2, scale=3e4))
    check["concat_heads"](rng.normal(2, 10, 1, 7))
    check["split_heads"](rng.normal(2, 6, 8)[:, 1:5], 4)
    check["concat_heads"](check["split_heads"](rng.normal(1, 2, 768), 12))
    for heads in (33, 130):
        check["split_heads"](rng.normal(2, 3, 2 * heads), heads)
        check["concat_heads"](rng.normal(2, heads, 3, 2))
