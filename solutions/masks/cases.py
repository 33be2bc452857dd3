"""Hidden cases of masks."""

import pytest
import torch

from grader.kit.defaults import before_a_default_device, slices_of_longer_ones, slices_of_wider_ones
from grader.kit.inference import inference_mode


def tokens(rng, *shape, pad=0):
    """Draw token ids of which about a third, in any place, is padding."""
    ids = rng.integers(1, 50, *shape) + (rng.integers(0, 50, *shape) == pad)
    ids = torch.where(ids == pad, 51, ids)
    return torch.where(rng.uniform(*shape) < 0.35, pad, ids)


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    padding = check["padding_mask"](torch.tensor([[5, 7, 0]]))
    causal = check["causal_mask"](2, 3, device=check.device)
    check["combine_masks"](padding, causal)


def test_padding_at_the_end(check):
    """Two sequences, one shorter than the other."""
    check["padding_mask"](torch.tensor([[5, 3, 9, 2], [7, 4, 0, 0]]))


def test_padding_anywhere(check, rng):
    """Padding may stand in front, or in between; B != S."""
    check["padding_mask"](torch.tensor([[0, 0, 3, 8, 1], [6, 0, 2, 0, 7]]))
    check["padding_mask"](tokens(rng, 3, 8))
    check["padding_mask"](tokens(rng, 4, 4))


def test_no_padding_and_nothing_but_padding(check):
    """Nothing to hide, and everything."""
    check["padding_mask"](torch.tensor([[1, 2, 3]]))
    check["padding_mask"](torch.tensor([[1, 2, 3], [0, 0, 0]]))


def test_another_padding_id(check, rng):
    """The id 0 is a token like any other when padding has another id, which may be negative or large."""
    check["padding_mask"](torch.tensor([[0, 5, 1, 1], [2, 0, 1, 3]]), pad_id=1)
    check["padding_mask"](torch.tensor([[0, 5, -1, -1], [2, -1, 0, 3]]), pad_id=-1)
    check["padding_mask"](tokens(rng, 3, 7, pad=49), 49)
    check["padding_mask"](torch.tensor([[-100, 50257, 7], [50257, 50257, 0]]), pad_id=50257)


def test_ids_of_any_size(check):
    """Ids are integers of 64 bits: neighbours above 2^24 differ, and so do ids that share their lower bits."""
    check["padding_mask"](torch.tensor([[2**24, 2**24 + 1, 3], [2**24 + 2, 2**24, 7]]), pad_id=2**24 + 1)
    check["padding_mask"](torch.tensor([[5, 2**32 + 5, 2**33 + 5], [2**32, 0, 2**32 + 4]]), pad_id=2**32 + 5)
    check["padding_mask"](torch.tensor([[70000, 70000 - 65536, 1], [2**53, 2**53 + 1, 0]]), pad_id=70000)
    check["padding_mask"](torch.tensor([[2**53, 2**53 + 1, 0], [1, 2**53 + 1, 2]]), pad_id=2**53 + 1)
    check["padding_mask"](torch.tensor([[-3, -1, 4], [-100, 0, -1]]), pad_id=-1)


def test_negative_ids_are_tokens(check):
    """Only the padding id is padding: what is smaller than it is not."""
    check["padding_mask"](torch.tensor([[-3, 0, 4], [0, -1, 0]]))
    check["padding_mask"](torch.tensor([[1, 2, 3], [5, 4, 3]]), pad_id=3)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.uint8])
def test_padding_of_small_integers(check, dtype):
    """Token ids come in several integer types."""
    check["padding_mask"](torch.tensor([[5, 3, 0], [7, 0, 0]], dtype=dtype))


def test_padding_of_one_token(check):
    """One sequence, one token."""
    check["padding_mask"](torch.tensor([[4]]))
    check["padding_mask"](torch.tensor([[0]]))
    check["padding_mask"](torch.tensor([[4], [0], [2]]))


def test_padding_of_transposed_ids(check, rng):
    """Ids that were length first are a view."""
    check["padding_mask"](tokens(rng, 6, 2).transpose(0, 1))


def test_padding_mask_by_keyword(check, rng):
    """The names of the arguments are part of the contract."""
    check["padding_mask"](token_ids=tokens(rng, 2, 5), pad_id=0)


@pytest.mark.derive("contract")
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_causal_square(check, n):
    """Each position sees itself and what came before."""
    check["causal_mask"](n)
    check["causal_mask"](n, n)


@pytest.mark.derive("contract")
def test_causal_decoding_step(check):
    """One query, the last of five positions, sees them all."""
    check["causal_mask"](1, 5)
    check["causal_mask"](1, 2)
    check["causal_mask"](1, 1)


@pytest.mark.derive("contract")
@pytest.mark.parametrize(("n", "m"), [(2, 3), (2, 5), (3, 7), (5, 6), (4, 9)])
def test_causal_chunk_after_a_prefix(check, n, m):
    """With n < m the queries are the last n of m positions."""
    check["causal_mask"](n, m)


@pytest.mark.derive
def test_causal_of_any_size(check):
    """Hundreds of positions: no table that was made beforehand is large enough."""
    check["causal_mask"](300)
    check["causal_mask"](150)
    check["causal_mask"](3, 300)


@pytest.mark.derive("device", "contract")
def test_no_device_is_the_default_one(check):
    """`None` leaves it to PyTorch: where a caller has set a default device, the mask is made there."""
    with before_a_default_device(check):
        check["causal_mask"](4, device=None)
    check["causal_mask"](4, device=None)
    check["causal_mask"](2, m=5, device=None)


@pytest.mark.derive("contract")
def test_causal_by_keyword(check):
    """The names of the arguments are part of the contract."""
    check["causal_mask"](n=3, m=4)
    check["causal_mask"](n=3, m=None)
    check["causal_mask"](3, m=5, device=None)
    check["causal_mask"](2, 4, "cpu")


@pytest.mark.derive("device", "contract")
def test_causal_mask_on_the_device_asked_for(check):
    """`device` says where the mask is made."""
    check["causal_mask"](4, device=check.device)
    check["causal_mask"](3, 5, check.device)


def test_combine_two(check, rng):
    """Visible is what both show."""
    check["combine_masks"](rng.keep(2, 3, 4), rng.keep(2, 3, 4))


def test_combine_masks_that_broadcast(check, rng):
    """Padding (B, 1, 1, S) and causal (S, S) make (B, 1, S, S), in either order."""
    padding, causal = rng.keep(2, 1, 1, 5), torch.ones(5, 5, dtype=torch.bool).tril()
    check["combine_masks"](padding, causal)
    check["combine_masks"](causal, padding)
    check["combine_masks"](rng.keep(1, 3, 1, 4), rng.keep(2, 1, 5, 1), rng.keep(4))


def test_combine_three_and_more(check, rng):
    """Each further mask hides more; the order does not matter."""
    masks = [rng.keep(3, 4, p=0.8) for _ in range(4)]
    check["combine_masks"](*masks[:3])
    check["combine_masks"](*masks)
    check["combine_masks"](masks[2], masks[0], masks[1])


def test_combine_where_none_is_visible_in_both(check):
    """Two masks that show nothing in common."""
    check["combine_masks"](torch.tensor([[True, False]]), torch.tensor([[False, True]]))


def test_combine_skips_none(check, rng):
    """None, in any place, means that nothing is hidden on that account."""
    first, second = rng.keep(3, 4), rng.keep(2, 1, 4)
    check["combine_masks"](None, first)
    check["combine_masks"](first, None)
    check["combine_masks"](None, first, None, second, None)


def test_combine_one(check, rng):
    """A single mask stays what it is."""
    check["combine_masks"](rng.keep(2, 1, 1, 4))
    check["combine_masks"](rng.keep(4))


def test_combine_nothing(check):
    """No masks, or None only: there is nothing to hide."""
    check["combine_masks"]()
    check["combine_masks"](None)
    check["combine_masks"](None, None)


def test_padding_and_causal_together(check, rng):
    """What a decoder uses: the masks of this kata, combined."""
    padding = check["padding_mask"](tokens(rng, 2, 6))
    causal = check["causal_mask"](6, device=check.device)
    check["combine_masks"](padding, causal)
    check["combine_masks"](padding, check["causal_mask"](2, 6, check.device), None)


def test_masks_are_not_used_up(check, rng):
    """The same masks, combined twice, give the same twice."""
    first, second = rng.keep(3, 4), rng.keep(3, 4)
    before = check["combine_masks"](first, second)
    check.same(before, check["combine_masks"](first, second), "the second time the same masks gave another result")
    check["combine_masks"](rng.keep(20, 20), rng.keep(20, 20))


@pytest.mark.derive
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    check["padding_mask"](tokens(rng, 9, 300))
    check["padding_mask"](tokens(rng, 3, 7)[:, 2:])
    check["combine_masks"](rng.keep(2, 3, 6)[..., 2:], torch.zeros(3, 4, dtype=torch.bool))
    half = rng.keep(3, 4)
    half[1] = False
    check["combine_masks"](half, rng.keep(2, 3, 4))


@pytest.mark.derive
def test_masks_in_inference_mode(check, rng):
    """Nothing is learned by masks: they are the same where no gradients are recorded."""
    with inference_mode(check):
        check["padding_mask"](tokens(rng, 3, 5))
        check["causal_mask"](4, 6)
        check["combine_masks"](rng.keep(2, 3, 4), rng.keep(3, 4))


@pytest.mark.derive("device")
def test_masks_that_are_slices(check, rng):
    """Part of a mask that was made for more keys, or for more queries."""
    for slices in (slices_of_wider_ones, slices_of_longer_ones):
        with slices(check):
            check["combine_masks"](rng.keep(2, 3, 4), rng.keep(2, 1, 3, 4))
