"""Hidden cases of kv-cache."""

import pytest
import torch

from grader.kit.attention import FAR, KEYS, collinear_tokens, exact_projections, far_keys, rows_of_all_kinds
from grader.kit.inference import inference_mode

# Gradients through a cache that was handed in are not graded: cases that hand one on have no `grad` variant.
without_grad = pytest.mark.derive("dtype", "device", "contract")


def feed(attention, x, sizes, padding_mask=None):
    """Feed `x` in chunks of these sizes, each with the cache of the one before; the results of all calls."""
    results, cache, start = [], None, 0
    for size in sizes:
        end = start + size
        if padding_mask is None:
            result = attention(x[:, start:end], cache)
        else:
            result = attention(x[:, start:end], cache=cache, padding_mask=padding_mask[:, :end])
        cache, start = result[1], end
        results.append(result)
    return results


def left_padding(lengths, total):
    """Mask (B, T) of sequences of these lengths that are aligned to the right."""
    return torch.arange(total) >= total - torch.tensor(lengths)[:, None]


@without_grad
def test_by_hand(check):
    """The example of the brief: two tokens, then a third behind their cache, then with the first one hidden."""
    attention = check.module(d_model=2, n_heads=1, bias=False)
    identity = torch.eye(2, dtype=torch.float64)
    attention.set(W_q__weight=identity, W_k__weight=identity, W_v__weight=identity, W_o__weight=identity)
    _, cache = attention(torch.tensor([[[1.0, 0.0], [0.0, 1.0]]], dtype=torch.float64))
    third = torch.ones(1, 1, 2, dtype=torch.float64)
    attention(third, cache)
    attention(third, cache, torch.tensor([[False, True, True]]))


def test_first_token(check, rng):
    """One token without a past: it sees itself, and the cache holds its key and value."""
    attention = check.module(d_model=4, n_heads=2)
    attention(rng.normal(2, 1, 4))


@pytest.mark.parametrize("sizes", [(2, 5, 6, 3), (2, 4, 5, 1), (2, 4, 3, 3), (4, 4, 16, 4)])
def test_whole_prefix_at_once(check, rng, sizes):
    """Without a cache: causal attention, in evaluation mode as well, for one head, narrow heads and equal sizes."""
    batch, length, d_model, n_heads = sizes
    attention = check.module(d_model=d_model, n_heads=n_heads)
    attention(rng.normal(batch, length, d_model))


@without_grad
@pytest.mark.parametrize("sizes", [[1, 1], [1] * 5, [4, 1, 1], [4, 3], [1, 5], [2, 1, 4, 1, 3]])
def test_tokens_in_chunks(check, rng, sizes):
    """Each chunk continues the one before; tokens that come together must not see each other's future."""
    attention = check.module(d_model=6, n_heads=2)
    feed(attention, rng.normal(3, sum(sizes), 6), sizes)


@without_grad
def test_chunks_when_all_sizes_are_equal(check, rng):
    """B == H == n == T - n == d_head, where a wrong axis does not show in the shape."""
    attention = check.module(d_model=9, n_heads=3)
    feed(attention, rng.normal(3, 6, 9), [3, 3])


@without_grad
def test_without_biases(check, rng):
    """bias=False, the third argument, leaves all four projections without a bias."""
    attention = check.module(6, 3, False)
    feed(attention, rng.normal(2, 6, 6), [2, 1, 3])


@pytest.mark.derive
@pytest.mark.parametrize("sizes", [[1] * 7, [3, 4], [4, 2, 1], [6, 1]])
def test_any_split_gives_the_full_pass(check, rng, sizes):
    """However the tokens are cut into chunks, the outputs and the last cache are those of one call."""
    attention = check.module(d_model=6, n_heads=2)
    x = rng.normal(2, 7, 6)
    full = attention(x)
    results = feed(attention, x, sizes)
    outputs = torch.cat([result[0].got for result in results], dim=1)
    check.close(outputs, full[0].got, f"chunks of {sizes} give other outputs than one call")
    check.close(results[-1][1][0].got, full[1][0].got, f"chunks of {sizes} leave other keys than one call")
    check.close(results[-1][1][1].got, full[1][1].got, f"chunks of {sizes} leave other values than one call")


@without_grad
@pytest.mark.parametrize("length", [1, 4])
def test_empty_cache(check, rng, length):
    """A cache of length 0 is the same as none."""
    attention = check.module(d_model=6, n_heads=3)
    empty = torch.zeros(2, 3, 0, 2, dtype=torch.float64)
    _, cache = attention(rng.normal(2, length, 6), cache=(empty, empty.clone()))
    attention(rng.normal(2, 2, 6), cache=cache)


@without_grad
@pytest.mark.parametrize("length", [1, 3])
def test_any_pair_is_a_cache(check, rng, length):
    """Keys and values that no call of this module has made."""
    attention = check.module(d_model=6, n_heads=2)
    attention(rng.normal(3, length, 6), cache=(rng.normal(3, 2, 5, 3), rng.normal(3, 2, 5, 3)))


@without_grad
def test_two_continuations_of_one_prefix(check, rng):
    """Two beams grow from the same prefix, turn by turn; neither disturbs the other."""
    attention = check.module(d_model=6, n_heads=2)
    _, prefix = attention(rng.normal(2, 4, 6))
    _, left = attention(rng.normal(2, 1, 6), prefix)
    _, right = attention(rng.normal(2, 1, 6), prefix)
    _, left = attention(rng.normal(2, 2, 6), left)
    _, right = attention(rng.normal(2, 1, 6), right)
    attention(rng.normal(2, 1, 6), left)
    attention(rng.normal(2, 3, 6), prefix)


@without_grad
def test_interleaved_sequences(check, rng):
    """Two conversations, of different batch sizes and lengths, served by one module in turns, and a third begun."""
    attention = check.module(d_model=6, n_heads=3)
    _, first = attention(rng.normal(2, 3, 6))
    _, second = attention(rng.normal(1, 5, 6))
    _, first = attention(rng.normal(2, 1, 6), first)
    _, second = attention(rng.normal(1, 2, 6), second)
    attention(rng.normal(2, 1, 6), first)
    attention(rng.normal(2, 3, 6))
    attention(rng.normal(1, 1, 6), second)


@without_grad
def test_very_large_scores(check, rng):
    """Scores of more than ten thousand: the weights stay finite."""
    attention = check.module(d_model=4, n_heads=1, bias=False)
    exact_projections(attention, 24.0)
    x, _ = collinear_tokens(rng, 3)
    feed(attention, x, [2, 2])


@pytest.mark.derive("dtype")
def test_digits_of_double_precision(check, rng):
    """In float64 all scores lie around a million and differ by about one: the digits must not get lost on the way."""
    attention = check.module(d_model=6, n_heads=2)
    height = 1e6 if check.dtype == torch.float64 else 1.0
    attention.set(W_k__bias=torch.full((6,), height, dtype=torch.float64))
    feed(attention, rng.normal(2, 6, 6), [4, 2])


@pytest.mark.derive("device")
def test_training_mode_computes_the_same(check, rng):
    """There is nothing random in this module."""
    attention = check.module(d_model=6, n_heads=2).train()
    feed(attention, rng.normal(2, 5, 6), [3, 2])


@pytest.mark.grad
def test_gradients_of_a_chunk_after_a_cache(check, rng):
    """With a cache, here an empty one, the new tokens and the weights get their gradients, too."""
    attention = check.module(d_model=6, n_heads=2)
    empty = torch.zeros(3, 2, 0, 3, dtype=torch.float64)
    attention(rng.normal(3, 4, 6), cache=(empty, empty.clone()), padding_mask=left_padding([4, 3, 1], 4))


@pytest.mark.contract
@pytest.mark.parametrize(("d_model", "n_heads"), [(10, 3), (6, 4), (4, 8)])
def test_width_not_divisible_by_heads(check, d_model, n_heads):
    """Impossible sizes are refused when the module is built."""
    with check.raises(ValueError):
        check.module(d_model=d_model, n_heads=n_heads)


@pytest.mark.contract
def test_cache_is_used_again(check, rng):
    """The same cache, tokens and mask a second time give the same result, bit by bit."""
    attention = check.module(d_model=6, n_heads=2)
    x, mask = rng.normal(2, 2, 6), rng.keep(2, 6)
    _, cache = attention(rng.normal(2, 4, 6))
    first = attention(x, cache, mask)
    attention(rng.normal(2, 3, 6), cache)
    second = attention(x, cache, mask)
    check.same(second[0], first[0], "the same call with the same cache gives another output the second time")
    check.same(second[1][0], first[1][0], "the same call with the same cache gives other keys the second time")
    check.same(second[1][1], first[1][1], "the same call with the same cache gives other values the second time")


@pytest.mark.contract
def test_returned_cache_stays_as_it_was(check, rng):
    """The cache of a step is not rewritten by a later step from the same prefix."""
    attention = check.module(d_model=6, n_heads=2)
    x = rng.normal(2, 1, 6)
    _, prefix = attention(rng.normal(2, 3, 6))
    _, left = attention(rng.normal(2, 1, 6), prefix)
    first = attention(x, left)
    attention(rng.normal(2, 1, 6), prefix)
    second = attention(x, left)
    check.same(second[0], first[0], "a step from a prefix changes the cache that an earlier step returned")


def cost_of_a_step(check, rng, past, new):
    """Count what `new` tokens behind `past` cached ones cost, beside what the contract allows."""
    attention = check.module(d_model=32, n_heads=4)
    cache = (rng.normal(2, 4, past, 8), rng.normal(2, 4, past, 8))
    cost = attention.run(rng.normal(2, new, 32), cache).cost
    return cost, 2 * 2 * new * (4 * 32**2 + 2 * (past + new) * 32)


@pytest.mark.cost
def test_a_first_token_pays_for_itself_only(check, rng):
    """One token behind an empty cache: it is projected, and scored against itself."""
    cost, allowed = cost_of_a_step(check, rng, 0, 1)
    check.at_most(cost.madds, allowed, "a first token does more than its share of multiply-adds")


@pytest.mark.cost
def test_a_step_projects_and_scores_new_tokens_only(check, rng):
    """One token behind a long prefix: at most twice 4 d_model^2 + 2 T d_model multiply-adds."""
    for past in (64, 192):
        cost, allowed = cost_of_a_step(check, rng, past, 1)
        check.at_most(cost.madds, allowed, "a decode step does more than its share of multiply-adds")


@pytest.mark.cost
def test_a_chunk_projects_and_scores_new_tokens_only(check, rng):
    """The same for a few tokens at once."""
    cost, allowed = cost_of_a_step(check, rng, 128, 4)
    check.at_most(cost.madds, allowed, "a chunk does more than its share of multiply-adds")


@pytest.mark.derive
def test_sizes_that_people_run(check, rng):
    """Twelve heads, 300 tokens in a cache and 70 new ones, or two, or one; a prompt of 80 alone."""
    attention = check.module(d_model=96, n_heads=12)
    mask = torch.cat([rng.keep(2, 300), torch.ones(2, 70, dtype=torch.bool)], dim=1)
    cache = (rng.normal(2, 12, 300, 8), rng.normal(2, 12, 300, 8))
    attention(rng.normal(2, 70, 96), cache, mask)
    attention(rng.normal(2, 2, 96), cache, mask[:, :302])
    attention(rng.normal(2, 1, 96), cache)
    attention(rng.normal(1, 80, 96))


@pytest.mark.derive
def test_two_continuations_of_a_single_sequence(check, rng):
    """One sequence alone: two beams grow from its prefix, token by token, in turns."""
    attention = check.module(d_model=6, n_heads=2)
    _, prefix = attention(rng.normal(1, 3, 6))
    _, left = attention(rng.normal(1, 1, 6), prefix)
    _, right = attention(rng.normal(1, 1, 6), prefix)
    _, left = attention(rng.normal(1, 1, 6), left)
    attention(rng.normal(1, 1, 6), right)
    attention(rng.normal(1, 1, 6), left)
    _, longer = attention(rng.normal(1, 1, 6), prefix)
    _, first = attention(rng.normal(1, 1, 6), longer)
    attention(rng.normal(1, 1, 6), longer)
    attention(rng.normal(1, 1, 6), first)


@pytest.mark.derive
def test_two_continuations_in_inference_mode(check, rng):
    """Whoever generates records no gradients: two beams grow from one prefix in inference mode, in turns."""
    attention = check.module(d_model=6, n_heads=2)
    with inference_mode(check, continued=True):
        _, prefix = attention(rng.normal(2, 2, 6))
        _, common = attention(rng.normal(2, 1, 6), prefix)
        _, left = attention(rng.normal(2, 1, 6), common)
        _, right = attention(rng.normal(2, 1, 6), common)
        attention(rng.normal(2, 1, 6), left)
        attention(rng.normal(2, 1, 6), right)


@pytest.mark.grad
def test_gradients_behind_a_cache(check, rng):
    """Padding lies in the cache: new tokens and weights get their gradients from one another."""
    attention = check.module(d_model=6, n_heads=2)
    cache = (rng.normal(2, 2, 3, 3), rng.normal(2, 2, 3, 3))
    attention(rng.normal(2, 2, 6), cache, left_padding([2, 2], 5))


@pytest.mark.derive("device", "contract")
def test_near_ties_at_large_scores(check, rng):
    """Scores of 16384 that differ by one or two: float32 tells them apart, and weights keep their digits."""
    attention = check.module(d_model=2, n_heads=2)
    nothing, one = torch.zeros(2, 2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    attention.set(W_q__weight=nothing, W_q__bias=one, W_k__weight=nothing, W_k__bias=0 * one)
    keys = 2.0**14 + rng.integers(0, 3, 2, 2, 6, 1).double()
    attention.set(W_k__bias=2.0**14 * one)
    attention(rng.normal(2, 2, 2), (keys, rng.normal(2, 2, 6, 1)))
    attention(rng.normal(2, 2, 2), (keys, rng.normal(2, 2, 6, 1)), rng.keep(2, 8))


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_faint_keys_with_loud_values(check, rng):
    """A weight of 1e-100 is a weight: its value may be as large."""
    attention = check.module(d_model=2, n_heads=2)
    nothing, one = torch.zeros(2, 2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    attention.set(W_q__weight=nothing, W_q__bias=one, W_k__weight=nothing, W_k__bias=0 * one)
    keys, values = torch.zeros(2, 2, 6, 1, dtype=torch.float64), rng.normal(2, 2, 6, 1)
    keys[:, :, 1], values[:, :, 1] = -230.0, 1e100 * values[:, :, 1]
    attention(rng.normal(2, 2, 2), (keys, values))


@pytest.mark.derive("grad", "device", "contract")
def test_weights_are_loaded_between_calls(check, rng):
    """A step of an optimiser or a checkpoint changes the weights in place: the next call uses the new ones."""
    attention = check.module(d_model=6, n_heads=2)
    x = rng.normal(2, 4, 6)
    attention(x)
    attention.set(**{f"{name}__weight": rng.normal(6, 6) for name in ("W_q", "W_k", "W_v", "W_o")})
    attention(x)
    for name in ("W_q", "W_k", "W_v", "W_o"):
        attention.set(**{f"{name}__weight": rng.normal(6, 6)})
        attention(x)


@pytest.mark.derive
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    attention = check.module(d_model=4, n_heads=2)
    attention(rng.normal(9, 3, 4), padding_mask=torch.zeros(9, 3, dtype=torch.bool))
    attention(rng.normal(1, 300, 4))
    check.module(d_model=1, n_heads=1)(rng.normal(2, 3, 1))
    attention(rng.normal(1, 2, 4), (rng.normal(1, 2, 600, 2), rng.normal(1, 2, 600, 2)))


@pytest.mark.mask
@pytest.mark.derive("device")
@pytest.mark.parametrize("keys", KEYS)
def test_many_scores_far_from_zero(check, rng, keys):
    """Rows of 20 to 600 scores far above and far below zero: what is visible shares a weight of 1."""
    attention = check.module(d_model=2, n_heads=2)
    nothing, one = torch.zeros(2, 2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    attention.set(W_q__weight=nothing, W_q__bias=one, W_k__weight=nothing)
    for height in FAR:
        attention.set(W_k__bias=height * one)
        cache = (far_keys(height, keys).expand(4, 2, -1)[..., None], rng.normal(4, 2, keys, 1))
        attention.train()(rng.normal(4, 2, 2), cache, rows_of_all_kinds(rng, 4, keys + 2))
        attention.eval()(rng.normal(4, 2, 2), cache)
