"""Hidden cases of encoder-block."""

import pytest
import torch

from grader.kit import dropout_gradients, dropped, norms
from grader.kit.attention import rows_of_all_kinds
from grader.kit.digits import keeps_digits

# A norm magnifies rounding where its input varies little, so the `dtype` variants are those of wide blocks.
without_dtype = pytest.mark.derive("grad", "device", "contract")


def plain_norms(block, d_model, weight=1.0):
    """Give the first norm this weight, the second one a weight of 1, and no bias to either."""
    ones, zeros = torch.ones(d_model, dtype=torch.float64), torch.zeros(d_model, dtype=torch.float64)
    block.set(addnorm1__ln__weight=weight * ones, addnorm2__ln__weight=ones)
    block.set(addnorm1__ln__bias=zeros, addnorm2__ln__bias=zeros)


@without_dtype
def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    block = check.module(d_model=4, n_heads=2, d_ff=4)
    plain_norms(block, 4)
    for layer in ("attention__W_q", "attention__W_k", "attention__W_v", "attention__W_o", "ffn__dense1", "ffn__dense2"):
        block.set(**{f"{layer}__weight": torch.eye(4), f"{layer}__bias": torch.zeros(4)})
    block(torch.tensor([[[1.0, 0.0, 0.0, 2.0], [0.0, 2.0, 0.0, 0.0]]]), mask=torch.tensor([[True, False]]))


@without_dtype
def test_three_tokens(check, rng):
    """The smallest call: one sequence, two heads."""
    block = check.module(d_model=4, n_heads=2, d_ff=6)
    block(rng.normal(1, 3, 4))


def test_a_batch_of_sequences(check, rng):
    """Every token sees all others, those behind it as well."""
    block = check.module(d_model=32, n_heads=4, d_ff=24)
    block(rng.normal(2, 5, 32))


@without_dtype
@pytest.mark.parametrize("sizes", [(5, 1, 7), (4, 4, 3), (8, 2, 3)])
def test_one_head_narrow_heads_narrow_layers(check, rng, sizes):
    """d_model, n_heads and d_ff by position, d_ff smaller than d_model as well."""
    block = check.module(*sizes)
    block(rng.normal(2, 4, sizes[0]))


@without_dtype
def test_axes_of_one_size(check, rng):
    """B == H == S == d_head, where a wrong axis does not show in the shape."""
    block = check.module(d_model=9, n_heads=3, d_ff=9)
    block(rng.normal(3, 3, 9))


def test_a_single_token(check, rng):
    """It sees itself: its weight is 1."""
    block = check.module(d_model=32, n_heads=2, d_ff=8)
    block(rng.normal(3, 1, 32))


@without_dtype
def test_transposed_input(check, rng):
    """A sequence that was length first is a view."""
    block = check.module(6, 3, 8)
    block(rng.normal(4, 2, 6).transpose(0, 1))


@without_dtype
def test_sharp_attention(check, rng):
    """Large queries and keys, where a wrong scale is plain to see."""
    block = check.module(16, 2, 8)
    block.set(
        attention__W_q__weight=rng.normal(16, 16, scale=0.6), attention__W_k__weight=rng.normal(16, 16, scale=0.6)
    )
    block(rng.normal(2, 5, 16))


@without_dtype
def test_biases_that_matter(check, rng):
    """Each bias of the attention is as large as what it is added to."""
    block = check.module(6, 2, 8)
    block.set(**{f"attention__{name}__bias": rng.normal(6) for name in ("W_q", "W_k", "W_v", "W_o")})
    block(rng.normal(2, 4, 6))


@without_dtype
def test_norms_of_tiny_values(check, rng):
    """Both sublayers return 0 and the norms meet tiny values, where their eps decides."""
    block = check.module(d_model=6, n_heads=2, d_ff=4)
    dropped.silence(block, 6, "attention__W_o", "ffn__dense2")
    plain_norms(block, 6, weight=1e-3)
    block(rng.normal(2, 3, 6, scale=1e-3))


@pytest.mark.derive("dtype")
def test_large_values(check, rng):
    """Tokens of a thousand: their squares are beyond float16, what a norm makes of them is not."""
    block = check.module(d_model=32, n_heads=2, d_ff=24)
    nothing, zero = torch.zeros(32, 32, dtype=torch.float64), torch.zeros(32, dtype=torch.float64)
    block.set(attention__W_q__weight=nothing, attention__W_q__bias=zero)
    block(rng.normal(2, 3, 32, scale=1e3))
    block.set(addnorm1__ln__weight=1e3 + zero)
    block(rng.normal(2, 3, 32, scale=1e3))


@pytest.mark.derive("device")
def test_tokens_far_from_zero(check, rng):
    """Both norms meet tokens whose mean is thousands of deviations away: their variance is no difference of squares."""
    block = check.module(d_model=32, n_heads=2, d_ff=4)
    dropped.silence(block, 32, "attention__W_o", "ffn__dense2")
    plain_norms(block, 32)
    block.set(addnorm1__ln__bias=torch.full((32,), norms.LEVEL, dtype=torch.float64))
    x = norms.far_tokens(rng, 2, 3, 32)
    norms.check_deviations(check, block.run(x).got, norms.normed(x - norms.LEVEL, times=2))


@pytest.mark.derive("dtype")
def test_digits_of_double_precision(check, rng):
    """In float64 all scores lie around a million and differ by about one: the digits must not get lost on the way."""
    block = check.module(d_model=32, n_heads=2, d_ff=8)
    height = torch.full((32,), 1e6 if check.dtype == torch.float64 else 1.0, dtype=torch.float64)
    block.set(attention__W_k__bias=height)
    block(rng.normal(2, 5, 32))


def test_no_dropout_in_evaluation(check, rng):
    """In evaluation mode a rate of one half, the fourth setting, changes nothing."""
    block = check.module(32, 2, 8, 0.5)
    block(rng.normal(2, 4, 32))


@pytest.mark.derive("grad", "device")
def test_training_without_dropout(check, rng):
    """In training a rate of 0, the default, changes nothing; no call leaves a trace for the next."""
    block = check.module(6, 2, 8)
    x, mask = rng.normal(2, 5, 6), rng.keep(2, 1, 5)
    before = block.train()(x, mask)
    block(rng.normal(3, 2, 6))
    check.same(before, block.eval()(x, mask), "the same call gave another result in evaluation mode")


@pytest.mark.derive
def test_calls_of_the_same_sizes(check, rng):
    """Other tokens in as many places, masked and then unmasked: each call goes by what it is given."""
    block = check.module(6, 2, 8)
    block(rng.normal(2, 5, 6), rng.keep(2, 1, 5))
    block(rng.normal(2, 5, 6))


@pytest.mark.derive("grad", "device")
def test_dropout_of_the_attention(check):
    """Dropout acts on the weights and again on what W_o returns; what is kept makes up for what is dropped."""
    block = check.module(d_model=16, n_heads=2, d_ff=4, dropout=0.5)
    plain_norms(block, 16)
    dropped.silence(block, 16, "ffn__dense2")
    dropped.equal_weights(block, "attention")
    x, _ = dropped.two_features(20, 8)
    dropped.check_lattice(check, dropped.two_sums(check, block, 20.0, x), torch.full((8,), 8.0))
    dropped.silence(block, 16, "attention__W_o")
    dropped.ones_behind(block, "attention__W_o")
    dropped.check_features(check, *dropped.two_sums(check, block, 20.0, x))


@pytest.mark.derive("grad", "device")
def test_dropout_of_the_feed_forward_network(check):
    """The output of the feed-forward network is dropped feature by feature, and what is kept is doubled."""
    block = check.module(d_model=16, n_heads=2, d_ff=4, dropout=0.5)
    plain_norms(block, 16)
    dropped.silence(block, 16, "attention__W_o", "ffn__dense2")
    dropped.ones_behind(block, "ffn__dense2")
    x, spread = dropped.two_features(20, 3)
    dropped.check_features(check, *dropped.two_sums(check, block, spread, x))


@pytest.mark.grad
def test_gradients_follow_what_was_dropped(check, rng):
    """Going back meets the entries and the weights that were dropped on the way here, in each sublayer."""
    first, last = (dropout_gradients.loud(rng, f"addnorm{number}.ln", 6) for number in (1, 2))
    values, mixed = {"attention.W_v.bias": rng.normal(6, scale=1e4)}, {"attention.W_o.weight": rng.normal(6, 6)}
    silent = dropout_gradients.without_bias(("attention.W_o", 6), ("ffn.dense1", 8), ("ffn.dense2", 6))
    block = check.module(d_model=6, n_heads=2, d_ff=8, dropout=0.5).set(**first, **last, **values, **mixed, **silent)
    result = block.train().run(torch.zeros(3, 5, 6))
    dropout_gradients.grows_with(check, result, last)
    for sources in (first, values, mixed):  # a norm stands behind each
        dropout_gradients.does_not_grow_with(check, result, sources)
    x, score = dropout_gradients.behind_a_sink(block, rng, "attention", 3, 5)
    dropout_gradients.does_not_grow_with(check, block.run(x), score)


@pytest.mark.mask
def test_padding_mask(check, rng):
    """(B, 1, S) hides the same keys from all tokens of a sequence; hidden tokens still get an output."""
    block = check.module(d_model=32, n_heads=4, d_ff=24)
    mask = torch.arange(5) < torch.tensor([5, 2, 4])[:, None]
    block(rng.normal(3, 5, 32), mask=mask[:, None])


SHAPES = [(3, 3), (3, 3, 3), (3, 1, 3), (1, 3, 3), (3, 1, 1, 3), (3, 1, 3, 3), (3, 3, 3, 3), (1, 3, 3, 3), (3, 3, 1, 3)]


@pytest.mark.mask
@without_dtype
@pytest.mark.parametrize("shape", SHAPES)
def test_mask_of_any_shape(check, rng, shape):
    """Two axes are (S, S), three are per sequence, four are (B, H, S, S); here B == H == S, which hides a mix-up."""
    block = check.module(d_model=6, n_heads=3, d_ff=8)
    block(rng.normal(3, 3, 6), rng.keep(*shape))
    single = shape if len(shape) == 2 else (1, *shape[1:])
    block(rng.normal(1, 3, 6), rng.keep(*single))


@pytest.mark.mask
@without_dtype
@pytest.mark.parametrize("shape", [(5, 5), (2, 5, 5), (2, 3, 5, 5)])
def test_mask_when_all_sizes_differ(check, rng, shape):
    """A mask for all sequences, for each sequence, for each head."""
    block = check.module(d_model=6, n_heads=3, d_ff=8)
    block(rng.normal(2, 5, 6), mask=rng.keep(*shape))


@pytest.mark.mask
def test_everything_visible(check, rng):
    """A mask that hides nothing changes nothing."""
    block = check.module(d_model=32, n_heads=2, d_ff=8)
    block(rng.normal(2, 4, 32), torch.ones(2, 4, 4, dtype=torch.bool))


@pytest.mark.mask
@pytest.mark.parametrize("shape", [(3, 4, 4), (3, 1, 4), (3, 2, 1, 4)])
def test_tokens_that_see_nothing(check, rng, shape):
    """Their context is 0: the bias of W_o is added, the residual and the feed-forward network go on as ever."""
    block = check.module(d_model=32, n_heads=2, d_ff=8)
    block.set(attention__W_o__bias=rng.normal(32))
    mask = rng.keep(*shape)
    mask[0, -1] = False  # a token, a sequence, a head
    mask[2, 0] = False
    block(rng.normal(3, 4, 32), mask)


@pytest.mark.mask
@without_dtype
def test_nothing_visible_at_all(check, rng):
    """Everything hidden, for several tokens and for one."""
    block = check.module(d_model=6, n_heads=2, d_ff=8)
    block(rng.normal(2, 3, 6), torch.zeros(3, 3, dtype=torch.bool))
    block(rng.normal(2, 1, 6), torch.zeros(2, 1, 1, dtype=torch.bool))


@pytest.mark.mask
@pytest.mark.derive
def test_hidden_tokens_leave_no_trace(check, rng):
    """Hidden tokens are replaced by huge ones: not one bit of the other tokens' outputs may change."""
    block = check.module(6, 2, 8)
    mask = rng.keep(2, 1, 6)
    visible = mask.transpose(1, 2)
    x = rng.normal(2, 6, 6)
    poisoned = torch.where(visible, x, rng.normal(2, 6, 6, scale=1e4))
    before, after = block(x, mask).got, block.run(poisoned, mask).got
    others = visible.squeeze(-1)
    check.same(after[others], before[others], "a hidden token changes the output of another one")


@pytest.mark.mask
@pytest.mark.derive("device")
@pytest.mark.parametrize("height", [2.0**13, -(2.0**17), -(2.0**115)])
def test_scores_far_from_zero(check, rng, height):
    """All scores are equal and far from zero: weights stay finite, and hidden tokens must not win."""
    block = check.module(d_model=8, n_heads=2, d_ff=8)
    nothing, one = torch.zeros(8, 8, dtype=torch.float64), torch.ones(8, dtype=torch.float64)
    block.set(attention__W_q__weight=nothing, attention__W_q__bias=one)
    block.set(attention__W_k__weight=nothing, attention__W_k__bias=height * one)
    for tokens in (5, 20, 70):
        block(rng.normal(2, tokens, 8), rng.keep(2, 1, tokens))
        block(rng.normal(2, tokens, 8), rows_of_all_kinds(rng, tokens, tokens))
    block(rng.normal(1, 520, 8), rng.keep(1, 1, 520))


@pytest.mark.mask
@pytest.mark.derive("dtype")
def test_visible_scores_below_those_that_are_hidden(check, rng):
    """Visible scores lie at -16384 and -24576, hidden ones at 0: in half precision, too, the hidden ones weigh 0."""
    block = check.module(d_model=32, n_heads=8, d_ff=24)
    first = torch.zeros(32, dtype=torch.float64)
    first[::4] = 1.0  # of each head
    keys = torch.zeros(32, 32, dtype=torch.float64)
    keys[::4, 0] = -(2.0**14)
    block.set(attention__W_q__weight=0 * keys, attention__W_q__bias=first)
    block.set(attention__W_k__weight=keys, attention__W_k__bias=0 * first)
    x, mask = rng.normal(2, 5, 32), rng.keep(2, 1, 5)
    x[..., 0] = torch.where(mask[:, 0], rng.integers(2, 4, 2, 5).double(), 0.0)
    block(x, mask)


@pytest.mark.precise  # of 600 tokens of four features some hardly vary: normalised, they lose digits in float32
@pytest.mark.derive("grad")
def test_sizes_that_people_run(check, rng):
    """Six hundred tokens, three hundred keys, wide heads and many of them: nothing changes with size."""
    block = check.module(d_model=96, n_heads=1, d_ff=200)
    block.set(**{f"attention__{name}__weight": rng.normal(96, 96, scale=0.2) for name in ("W_q", "W_k")})
    block(rng.normal(10, 9, 96), mask=rng.keep(9, 9))
    x = rng.normal(1, 5, 96)
    x[0, 1, 7] = 100.0  # nine deviations from all other features
    check.module(d_model=96, n_heads=12, d_ff=24)(x)
    check.module(d_model=4, n_heads=1, d_ff=8)(rng.normal(1, 600, 4, scale=3.0))


@pytest.mark.derive("grad", "device", "contract")
def test_weights_are_loaded_between_calls(check, rng):
    """A step of an optimiser or a checkpoint changes the weights in place: the next call uses the new ones."""
    block = check.module(d_model=8, n_heads=2, d_ff=6)
    x = rng.normal(2, 5, 8)
    block(x)
    block.set(**{f"attention__{name}__weight": rng.normal(8, 8) for name in ("W_q", "W_k", "W_v", "W_o")})
    block.set(ffn__dense1__weight=rng.normal(6, 8), ffn__dense2__weight=rng.normal(8, 6))
    block(x)
    for name in ("W_q", "W_k", "W_v", "W_o"):
        block.set(**{f"attention__{name}__weight": rng.normal(8, 8)})
        block(x)


@pytest.mark.precise
@pytest.mark.derive("grad", "device", "contract")
def test_every_digit_of_float64(check, rng):
    """All digits count, with gradients and without; heads of width 3 have a scale that is no short number."""
    result = check.module(d_model=6, n_heads=2, d_ff=5)(rng.normal(2, 4, 6))
    check.that(keeps_digits(result), "numbers of float64 came back with the digits of a shorter type")


@pytest.mark.derive("device")
def test_training_after_evaluation(check, rng):
    """Evaluation leaves no trace: in the training that follows, dropout acts."""
    block = check.module(8, 2, 6, 0.5)
    x = rng.normal(2, 4, 8)
    calm = block(x)
    loud = block.train().run(x).got
    check.that(
        isinstance(loud, torch.Tensor) and not torch.equal(loud, calm.got),
        "after an evaluation nothing was dropped in training",
    )


@pytest.mark.contract
@pytest.mark.parametrize(("d_model", "n_heads"), [(10, 3), (6, 4), (4, 8)])
def test_width_not_divisible_by_heads(check, d_model, n_heads):
    """Impossible sizes are refused when the block is built."""
    with check.raises(ValueError):
        check.module(d_model=d_model, n_heads=n_heads, d_ff=8)


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_faint_keys_with_loud_values(check, rng):
    """A weight of 1e-100 is a weight: its value may be as large."""
    block = check.module(d_model=8, n_heads=2, d_ff=8)
    nothing, one = torch.zeros(8, 8, dtype=torch.float64), torch.ones(8, dtype=torch.float64)
    keys, values = nothing.clone(), nothing.clone()
    keys[:, 0], values[:, 1] = 1.0, 1.0
    block.set(attention__W_q__weight=nothing, attention__W_q__bias=one)
    block.set(attention__W_k__weight=keys, attention__W_k__bias=0 * one, attention__W_v__weight=values)
    x = rng.normal(2, 5, 8)
    x[..., 0] = 0.0
    x[:, 1, 0], x[:, 1, 1] = -115.0, 1e100
    block(x)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    for sizes in ((1, 1, 1), (4, 2, 1)):
        check.module(*sizes)(rng.normal(4, 4, sizes[0]))
    block = check.module(8, 2, 6)
    x = rng.normal(2, 5, 8)
    block(3e4 * x)
    block.train()(x)
    block.eval()(x)


@pytest.mark.mask
@pytest.mark.precise
@pytest.mark.derive("grad")
def test_sizes_under_a_mask(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: what is hidden stays hidden."""
    for sizes in ((5, 1, 1), (24, 12, 7)):
        check.module(*sizes)(rng.normal(5, 4, sizes[0]), mask=rng.keep(5, 4, 4))
    block = check.module(4, 2, 6, 0.5)
    block(rng.normal(1, 600, 4), mask=rng.keep(600, 600))
    x, mask = rng.normal(4, 5, 4), torch.tensor([True, True, True, False, True]).expand(5, 5)
    other = torch.where(mask[0, :, None], x, 100.0 * x)
    before, after = block.train().run(x, mask).got[:, mask[0]], block.run(other, mask).got[:, mask[0]]
    check.same(before, after, "an output depends on a hidden token in training")
