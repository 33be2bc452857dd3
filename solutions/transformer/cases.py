"""Hidden cases of transformer."""

import pytest
import torch

from grader.kit.inference import inference_mode

# Gradients through a cache that was handed in are not graded: cases that hand one on have no `grad` variant.
# A norm magnifies rounding where its input varies little, so the `dtype` variants are those of wide models.
without_dtype = pytest.mark.derive("grad", "device", "contract")
without_grad = pytest.mark.derive("dtype", "device", "contract")
without_both = pytest.mark.derive("device", "contract")

SOURCE, TARGET, PAD = 11, 13, 0


def build(check, rng, d_model=32, n_heads=4, d_ff=24, n_layers=1, *more, vocabularies=(SOURCE, TARGET), **settings):
    """Build a model; in float64 the tokens outweigh the table of positions, which has the digits of float32."""
    model = check.module(*vocabularies, d_model, n_heads, d_ff, n_layers, *more, **settings)
    loud = 40.0 if check.variant_dtype == torch.float64 else 1.0
    for side, size in zip(("encoder", "decoder"), vocabularies, strict=True):
        model.set(**{f"{side}__embedding__weight": rng.normal(size, d_model, scale=loud / d_model**0.5)})
    for attention in ("encoder__layers__0__attention", "decoder__layers__0__self_attn"):
        for name in ("W_q", "W_k"):  # scores of the usual size
            model.set(**{f"{attention}__{name}__weight": rng.normal(d_model, d_model, scale=1 / loud / d_model**0.5)})
    return model


def sources(rng, *shape):
    """Draw source tokens, none of them padding."""
    return rng.integers(1, SOURCE, *shape)


def targets(rng, *shape):
    """Draw target tokens, none of them padding."""
    return rng.integers(1, TARGET, *shape)


def padded(rng, lengths):
    """Source tokens of these lengths with padding behind them."""
    longest = max(*lengths, 5)
    src = sources(rng, len(lengths), longest)
    return src.masked_fill(torch.arange(longest) >= torch.tensor(lengths)[:, None], PAD)


def feed(model, memory, memory_mask, tgt, sizes):
    """Decode `tgt` in chunks of these sizes, each with the cache of the one before; the results of all calls."""
    results, cache, start = [], None, 0
    for size in sizes:
        result = model.method("decode", tgt[:, start : start + size], memory, memory_mask, cache)
        cache, start = result[1], start + size
        results.append(result)
    return results


@without_dtype
def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    model = check.module(3, 3, d_model=4, n_heads=2, d_ff=4, n_layers=1)
    silent = ["encoder__layers__0__attention__W_o", "encoder__layers__0__ffn__dense2"]
    silent += [f"decoder__layers__0__{layer}" for layer in ("self_attn__W_o", "cross_attn__W_o", "ffn__dense2")]
    for layer in silent:
        model.set(**{f"{layer}__weight": torch.zeros(4, 4), f"{layer}__bias": torch.zeros(4)})
    norms = [f"encoder__layers__0__addnorm{number}__ln" for number in (1, 2)]
    for norm in norms + [f"decoder__layers__0__norm{number}" for number in (1, 2, 3)]:
        model.set(**{f"{norm}__weight": torch.ones(4), f"{norm}__bias": torch.zeros(4)})
    features = torch.tensor([[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    model.set(encoder__embedding__weight=features, decoder__embedding__weight=features)
    model.set(decoder__dense__weight=torch.eye(4)[:3], decoder__dense__bias=torch.zeros(3))
    src = torch.tensor([[1, 2]])
    model.method("encode", src)
    model(src, torch.tensor([[1, 1]]))


def test_one_token_each(check, rng):
    """One source token, one target token, one layer."""
    model = build(check, rng)
    model(sources(rng, 2, 1), targets(rng, 2, 1))


def test_a_batch_of_pairs(check, rng):
    """Sources and targets of different lengths: logits for every target token."""
    model = build(check, rng)
    model(sources(rng, 3, 6), targets(rng, 3, 4))


@without_dtype
def test_two_layers(check, rng):
    """Every layer has weights of its own; the last encoder layer is what all decoder layers read."""
    model = build(check, rng, n_layers=2)
    model(sources(rng, 2, 5), targets(rng, 2, 4))


@without_dtype
@pytest.mark.parametrize("sizes", [(5, 7, 6, 2, 3, 3), (9, 4, 5, 1, 8, 1), (6, 3, 4, 4, 4, 2)])
def test_settings_by_position(check, rng, sizes):
    """Vocabularies, d_model, n_heads, d_ff, n_layers, in this order."""
    model = build(check, rng, *sizes[2:], vocabularies=sizes[:2])
    model(rng.integers(1, sizes[0], 2, 4), rng.integers(1, sizes[1], 2, 3))


@pytest.mark.derive
def test_vocabularies_of_one_size(check, rng):
    """As many source tokens as target tokens: two languages nevertheless."""
    model = build(check, rng, d_model=8, n_heads=2, d_ff=4, vocabularies=(SOURCE, SOURCE))
    model(sources(rng, 2, 3), sources(rng, 2, 4))


@without_dtype
def test_axes_of_one_size(check, rng):
    """B == H == m == n == d_head, where a wrong axis does not show in the shape."""
    model = build(check, rng, d_model=9, n_heads=3, d_ff=9)
    model(sources(rng, 3, 3), targets(rng, 3, 3))


def test_the_same_token_over_and_over(check, rng):
    """Without positions all logits of a sequence would be the same."""
    model = build(check, rng)
    model(sources(rng, 2, 1).expand(2, 5).clone(), targets(rng, 2, 1).expand(2, 4).clone())


@without_dtype
def test_loud_and_quiet_embeddings(check, rng):
    """What counts is how loud the tokens are beside their positions."""
    model = build(check, rng)
    model.set(encoder__embedding__weight=rng.normal(SOURCE, 32, scale=0.05))
    model.set(decoder__embedding__weight=rng.normal(TARGET, 32, scale=0.5))
    model(sources(rng, 2, 5), targets(rng, 2, 4))


@without_dtype
def test_as_long_as_the_table(check, rng):
    """Source and target of max_len tokens still fit."""
    model = build(check, rng, max_len=7)
    model(sources(rng, 2, 7), targets(rng, 2, 7))


def test_encoding(check, rng):
    """The memory of the source and its mask."""
    model = build(check, rng)
    model.method("encode", sources(rng, 2, 5))


@without_both
def test_encoding_of_two_layers(check, rng):
    """The memory is what the last layer returns, nothing behind it."""
    model = build(check, rng, d_model=16, n_layers=2)
    model.method("encode", sources(rng, 2, 5))


def test_decoding_from_any_memory(check, rng):
    """The memory need not come from this encoder; without a mask all of it is visible."""
    model = build(check, rng)
    model.method("decode", targets(rng, 2, 4), rng.normal(2, 5, 32))


@without_grad
def test_prompt_then_tokens(check, rng):
    """Some tokens at once, a single one, then two together."""
    model = build(check, rng)
    feed(model, rng.normal(3, 5, 32), None, targets(rng, 3, 6), [3, 1, 2])


@without_both
@pytest.mark.parametrize("sizes", [[1, 1], [1] * 5, [4, 3], [1, 5]])
def test_tokens_in_chunks(check, rng, sizes):
    """Each chunk continues the one before, at its own positions; no token of a chunk sees the chunk's future."""
    model = build(check, rng, d_model=9, n_heads=3, n_layers=2)
    feed(model, rng.normal(3, 4, 9), rng.keep(3, 1, 4), targets(rng, 3, sum(sizes)), sizes)


@pytest.mark.derive
@pytest.mark.parametrize("sizes", [[6], [1] * 6, [2, 4], [4, 1, 1]])
def test_teacher_forcing_equals_step_by_step_decoding(check, rng, sizes):
    """However the target is cut into chunks, the logits are those of one forward pass."""
    model = build(check, rng, d_model=16, n_layers=2)
    src, tgt = padded(rng, [5, 3]), targets(rng, 2, 6)
    full = model(src, tgt).got
    memory, memory_mask = model.do("encode", src)
    steps = feed_uncompared(model, memory, memory_mask, tgt, sizes)
    check.that(
        steps.shape == full.shape, f"decoding in chunks of {sizes} gives logits of the shape {tuple(steps.shape)}"
    )
    check.close(steps, full, f"decoding in chunks of {sizes} gives other logits than teacher forcing")


def feed_uncompared(model, memory, memory_mask, tgt, sizes):
    """Decode in chunks from what the answer's own encoder returned; the logits of all calls."""
    logits, cache, start = [], None, 0
    for size in sizes:
        result = model.do("decode", tgt[:, start : start + size], memory, memory_mask, cache)
        logits.append(result[0].got)
        cache, start = result[1], start + size
    return torch.cat(logits, dim=1)


@without_both
def test_any_pairs_are_a_cache(check, rng):
    """Keys and values that no call of this model has made; new tokens stand behind them."""
    model = build(check, rng, d_model=8, n_heads=2, n_layers=2)
    cache = [(rng.normal(3, 2, 4, 4), rng.normal(3, 2, 4, 4)) for _ in range(2)]
    model.method("decode", targets(rng, 3, 2), rng.normal(3, 5, 8), cache=cache)
    model.method("decode", targets(rng, 3, 1), rng.normal(3, 5, 8), rng.keep(3, 1, 5), cache)


@without_both
def test_two_continuations_of_one_prefix(check, rng):
    """Two beams grow from the same prefix, turn by turn; neither disturbs the other."""
    model = build(check, rng, d_model=8, n_heads=2, n_layers=2)
    memory, mask = rng.normal(2, 4, 8), rng.keep(2, 1, 4)
    _, prefix = model.method("decode", targets(rng, 2, 3), memory, mask)
    _, left = model.method("decode", targets(rng, 2, 1), memory, mask, prefix)
    _, right = model.method("decode", targets(rng, 2, 1), memory, mask, prefix)
    model.method("decode", targets(rng, 2, 2), memory, mask, left)
    model.method("decode", targets(rng, 2, 1), memory, mask, right)
    model.method("decode", targets(rng, 2, 2), memory, mask, prefix)


@without_both
def test_another_source(check, rng):
    """A call depends on its arguments alone: another memory, another batch, a fresh start."""
    model = build(check, rng, d_model=8, n_heads=2)
    model(sources(rng, 2, 3), targets(rng, 2, 4))
    tgt = targets(rng, 2, 3)
    model.method("decode", tgt, rng.normal(2, 4, 8))
    _, cache = model.method("decode", tgt, rng.normal(2, 4, 8), rng.keep(2, 1, 4))
    model.method("decode", tgt[:, :1], rng.normal(2, 6, 8), None, cache)
    model(sources(rng, 3, 2), targets(rng, 3, 1))


@without_dtype
@pytest.mark.derive("dtype")
def test_large_values(check, rng):
    """Tokens of a thousand: their squares are beyond float16, what a norm makes of them is not."""
    model = build(check, rng)
    zero = torch.zeros(32, dtype=torch.float64)
    for name in ("encoder__layers__0__attention", "decoder__layers__0__self_attn", "decoder__layers__0__cross_attn"):
        model.set(**{f"{name}__W_q__weight": torch.zeros(32, 32), f"{name}__W_q__bias": zero})
    for side, size in (("encoder", SOURCE), ("decoder", TARGET)):
        model.set(**{f"{side}__embedding__weight": rng.normal(size, 32, scale=200.0)})
    model.set(decoder__layers__0__norm1__weight=1e3 + zero, decoder__layers__0__norm2__weight=1e3 + zero)
    model.set(encoder__layers__0__addnorm1__ln__weight=1e3 + zero)
    model.method("encode", sources(rng, 2, 4))
    model(sources(rng, 2, 4), targets(rng, 2, 3))


def test_no_dropout_in_evaluation(check, rng):
    """In evaluation mode a rate of one half, the seventh setting, changes nothing."""
    model = build(check, rng, 16, 2, 8, 1, 0.5)
    model(sources(rng, 2, 4), targets(rng, 2, 3))


@pytest.mark.derive("grad", "device")
def test_training_without_dropout(check, rng):
    """In training, too, the decoder is causal; a rate of 0, the default, changes nothing."""
    model = build(check, rng, d_model=16, n_layers=2).train()
    model(padded(rng, [5, 2]), targets(rng, 2, 5))


@pytest.mark.derive("dtype", "grad", "device")
def test_without_layers(check, rng):
    """No layers: embeddings and positions are the memory; position 257 is no number in bfloat16."""
    model = check.module(SOURCE, TARGET, 32, 4, 24, 0, max_len=300)
    loud = 40.0 if check.variant_dtype == torch.float64 else 1.0  # the table has the digits of float32
    model.set(encoder__embedding__weight=rng.normal(SOURCE, 32, scale=loud / 32**0.5))
    model.method("encode", sources(rng, 1, 1).expand(1, 300))


@pytest.mark.derive("grad", "device", "contract")
def test_everything_dropped(check, rng):
    """With a rate of 1 nothing of tokens, positions and sublayers is left in training: norms of nothing, and a bias."""
    model = build(check, rng, d_model=16, n_layers=2, dropout=1.0).train()
    model(sources(rng, 2, 4), targets(rng, 2, 3))


@pytest.mark.derive
def test_dropout_in_inference_mode(check, rng):
    """What nobody differentiates drops as well, as long as the module is in training."""
    model = build(check, rng, d_model=16, n_layers=2, dropout=1.0).train()
    with inference_mode(check):
        model(sources(rng, 2, 4), targets(rng, 2, 3))


SUBLAYERS = {
    "encoder": ("attention__W_o", "ffn__dense2"),
    "decoder": ("self_attn__W_o", "cross_attn__W_o", "ffn__dense2"),
}
NORMS = {"encoder": ("addnorm1__ln", "addnorm2__ln"), "decoder": ("norm1", "norm2", "norm3")}


def sixteen(check, loud):
    """Build a model of width 16 whose sublayers return 0 but for this one, of which each feature is 10,000."""
    model, one = check.module(SOURCE, 16, 16, 2, 4, 1, dropout=0.5), torch.ones(16)
    for side, names in SUBLAYERS.items():
        for name in (f"{side}__layers__0__{name}" for name in names):
            model.set(**{f"{name}__weight": torch.zeros(16, 4 if name.endswith("dense2") else 16)})
            model.set(**{f"{name}__bias": (1e4 if name == loud else 0.0) * one})
        for norm in NORMS[side]:
            model.set(**{f"{side}__layers__0__{norm}__weight": one, f"{side}__layers__0__{norm}__bias": 0 * one})
    return model.set(decoder__dense__weight=torch.eye(16), decoder__dense__bias=0 * one).train()


@pytest.mark.derive
@pytest.mark.parametrize("attention", ["self_attn", "cross_attn"])
def test_dropout_of_the_weights(check, rng, attention):
    """A single key: where its weight is dropped, a whole head of the context is, with gradients or without."""
    model, layer, one = sixteen(check, ""), f"decoder__layers__0__{attention}", torch.ones(16)
    model.set(**{f"{layer}__W_v__weight": torch.zeros(16, 16), f"{layer}__W_v__bias": 1e4 * one})
    model.set(**{f"{layer}__W_o__weight": torch.eye(16)})
    with inference_mode(check):
        got = model.run(sources(rng, 80, 1), targets(rng, 80, 1)).got
    check.that(got.shape == (80, 1, 16), f"the logits have the shape {tuple(got.shape)}")
    # What is kept is larger by far than all else, and above 0 behind a norm.
    silent = (got.view(80, 2, 8) < 0).all(-1).sum(-1)
    check.that(bool((silent == 1).double().mean() > 0.2), "in training the attention weights are not dropped")


@pytest.mark.derive
@pytest.mark.parametrize("layer", SUBLAYERS["encoder"])
def test_dropout_of_the_encoders_sums(check, rng, layer):
    """What a sublayer returns is dropped feature by feature before the sum, with gradients or without."""
    got = sixteen(check, f"encoder__layers__0__{layer}").do("encode", sources(rng, 40, 2))[0].got
    check.that(got.shape == (40, 2, 16), f"the memory has the shape {tuple(got.shape)}")
    check.that(has_two_levels(got), "in training what a sublayer returns is not dropped")


@pytest.mark.derive
@pytest.mark.parametrize("layer", SUBLAYERS["decoder"])
def test_dropout_of_the_decoders_sums(check, rng, layer):
    """What a sublayer returns is dropped feature by feature before the sum, with gradients or without."""
    model = sixteen(check, f"decoder__layers__0__{layer}")
    with inference_mode(check):
        got = model.run(sources(rng, 40, 2), targets(rng, 40, 2)).got
    check.that(got.shape == (40, 2, 16), f"the logits have the shape {tuple(got.shape)}")
    check.that(has_two_levels(got), "in training what a sublayer returns is not dropped")


def has_two_levels(got):
    """Whether the features of each token stand at two levels: what was kept outweighs all else."""
    high = got > 0
    tops = [(sign * got).masked_fill(side, -99.0).amax(-1) for sign in (1, -1) for side in (~high, high)]
    highest, negative_of_low, negative_of_high, lowest = tops[0], tops[3], tops[2], tops[1]
    mixed = high.any(-1) & ~high.all(-1)
    spread = torch.maximum(highest + negative_of_high, lowest + negative_of_low)
    return bool(mixed.double().mean() > 0.9) and bool(spread[mixed].max() < 0.05)


@pytest.mark.derive
def test_dropout_of_the_embeddings(check, rng):
    """Half of the features of embedding plus position are 0 in what reaches the first layer, each by itself."""
    model = check.module(SOURCE, TARGET, 16, 2, 4, 1, dropout=0.5)
    for layer, fan_in in (("attention__W_o", 16), ("ffn__dense2", 4)):
        name = f"encoder__layers__0__{layer}"
        model.set(**{f"{name}__weight": torch.zeros(16, fan_in), f"{name}__bias": torch.zeros(16)})
    for norm in ("addnorm1", "addnorm2"):
        name = f"encoder__layers__0__{norm}__ln"
        model.set(**{f"{name}__weight": torch.ones(16), f"{name}__bias": torch.zeros(16)})
    model.set(encoder__embedding__weight=5.0 + rng.uniform(SOURCE, 16))
    memory, _ = model.train().do("encode", sources(rng, 20, 3))
    got = memory.got.detach().double()
    check.that(got.shape == (20, 3, 16), f"the memory has the shape {tuple(got.shape)}")
    # All entries were far above 0 before the norms, so the dropped ones are the lowest of their token, and equal.
    dropped = (got - got.amin(-1, keepdim=True)).abs() < 1e-3
    share = dropped.double().mean().item()
    check.that(
        abs(share - 0.5) < 0.1, f"a share of {share:.2f} of embeddings plus positions was dropped at a rate of 0.5"
    )
    mixed = (dropped.any(-1) & ~dropped.all(-1)).double().mean()
    check.that(bool(mixed > 0.7), "whole tokens are dropped instead of single features")
    check.that(bool((dropped != dropped[:1]).any()), "all sequences lose the same features")
    check.that(bool((dropped != dropped[:, :1]).any()), "all tokens lose the same features")


@pytest.mark.mask
def test_padding_of_the_source(check, rng):
    """Sources of different lengths: neither encoder nor decoder reads the padding."""
    model = build(check, rng)
    model(padded(rng, [5, 2, 4]), targets(rng, 3, 4))


@pytest.mark.mask
@without_dtype
def test_another_padding_token(check, rng):
    """pad_id is the ninth setting, and 0 is a token like any other then; padding may stand anywhere."""
    model = build(check, rng, 16, 2, 8, 2, 0.0, 50, 4)
    src = torch.tensor([[4, 0, 7, 4, 1], [0, 4, 4, 2, 10], [3, 5, 0, 0, 9]])
    model(src, rng.integers(5, TARGET, 3, 4))


@pytest.mark.mask
@without_dtype
def test_sizes_that_agree_under_a_mask(check, rng):
    """B == H == m, where a mask without a head axis would be read as one per head."""
    model = build(check, rng, d_model=12, n_heads=3)
    src = torch.tensor([[3, 0, 0], [5, 2, 0], [1, 7, 4]])
    model(src, targets(rng, 3, 3))


@pytest.mark.mask
def test_an_empty_source(check, rng):
    """A source of nothing but padding: the model still writes, without a NaN in result or gradient."""
    model = build(check, rng)
    model(padded(rng, [4, 0, 5]), targets(rng, 3, 4))


@pytest.mark.mask
@pytest.mark.derive
def test_mask_of_the_memory(check, rng):
    """encode returns the mask that decode takes: (B, 1, m), True = a real token."""
    model = build(check, rng)
    src = padded(rng, [5, 3, 0])
    _, memory_mask = model.do("encode", src)
    check.that(
        memory_mask.got.dtype == torch.bool and torch.equal(memory_mask.got, (src != PAD)[:, None]),
        "the mask that encode returns is not (src != pad_id) as a bool tensor (B, 1, m)",
    )


@pytest.mark.mask
def test_memory_mask(check, rng):
    """The decoder reads what the mask lets it read."""
    model = build(check, rng)
    model.method("decode", targets(rng, 3, 4), rng.normal(3, 5, 32), memory_mask=rng.keep(3, 1, 5))


@pytest.mark.mask
@pytest.mark.derive
def test_padding_leaves_no_trace(check, rng):
    """A source alone and the same source beside a longer one: the same logits."""
    model = build(check, rng, d_model=16, n_layers=2)
    src, tgt = padded(rng, [6, 3]), targets(rng, 2, 4)
    together, alone = model(src, tgt), model(src[1:, :3], tgt[1:])
    check.close(together.got[1:], alone.got, "padding of the source changes the logits")
    behind = torch.cat([tgt[:, :3], torch.full((2, 2), PAD)], dim=1)
    check.close(model.run(src, behind).got[:, :3], together.got[:, :3], "padding behind the target changes the logits")


@pytest.mark.mask
@pytest.mark.derive
def test_later_tokens_leave_no_trace(check, rng):
    """Later target tokens are replaced: not one bit of the earlier logits may change, in either mode."""
    model = build(check, rng, d_model=16, n_layers=2)
    src, tgt = sources(rng, 2, 4), targets(rng, 2, 6)
    other = torch.cat([tgt[:, :3], (tgt[:, 3:] + 5) % TARGET], dim=1)
    for mode in (model.eval, model.train):
        before, after = mode()(src, tgt).got, mode().run(src, other).got
        check.same(after[:, :3], before[:, :3], "logits depend on a later target token")


@pytest.mark.mask
@pytest.mark.derive("device")
@pytest.mark.parametrize("height", [2.0**13, -(2.0**17), -(2.0**115)])
def test_scores_far_from_zero(check, rng, height):
    """All scores are equal and far from zero: weights stay finite; padding and the future must not win."""
    model = build(check, rng, d_model=8, n_heads=2)
    nothing, one = torch.zeros(8, 8, dtype=torch.float64), torch.ones(8, dtype=torch.float64)
    for name in ("encoder__layers__0__attention", "decoder__layers__0__self_attn", "decoder__layers__0__cross_attn"):
        model.set(**{f"{name}__W_q__weight": nothing, f"{name}__W_q__bias": one})
        model.set(**{f"{name}__W_k__weight": nothing, f"{name}__W_k__bias": height * one})
    model(padded(rng, [5, 2]), targets(rng, 2, 4))


@pytest.mark.grad
def test_gradients_behind_a_cache(check, rng):
    """What an earlier call returned gets no gradient here; new tokens, memory and weights do."""
    model = build(check, rng, d_model=8, n_heads=2)
    memory = rng.normal(2, 4, 8)
    _, cache = model.method("decode", targets(rng, 2, 3), memory)
    model.method("decode", targets(rng, 2, 2), memory, None, cache)


@pytest.mark.mask
@without_dtype
def test_memory_of_one_position(check, rng):
    """A memory of one position, which one sequence may see and the other may not."""
    model = build(check, rng, d_model=8, n_heads=2)
    model.method("decode", targets(rng, 2, 3), rng.normal(2, 1, 8), torch.tensor([[[True]], [[False]]]))


@pytest.mark.contract
@pytest.mark.parametrize(("d_model", "n_heads"), [(10, 3), (4, 8)])
def test_width_not_divisible_by_heads(check, d_model, n_heads):
    """Impossible sizes are refused when the model is built."""
    with check.raises(ValueError):
        check.module(SOURCE, TARGET, d_model, n_heads, 8, 1)


@pytest.mark.contract
@pytest.mark.parametrize(("m", "n"), [(6, 3), (3, 6)])
def test_longer_than_the_table(check, rng, m, n):
    """A source or a target of more than max_len tokens."""
    model = build(check, rng, d_model=8, n_heads=2, max_len=5)
    with check.raises(ValueError):
        model(sources(rng, 2, m), targets(rng, 2, n))


@pytest.mark.contract
def test_one_step_too_far(check, rng):
    """The tokens in the cache count, too."""
    model = build(check, rng, d_model=8, n_heads=2, max_len=5)
    memory = rng.normal(2, 3, 8)
    _, cache = model.method("decode", targets(rng, 2, 4), memory)
    _, full = model.method("decode", targets(rng, 2, 1), memory, None, cache)
    with check.raises(ValueError):
        model.method("decode", targets(rng, 2, 1), memory, None, full)


@pytest.mark.contract
def test_cache_and_memory_are_used_again(check, rng):
    """The same cache, memory and mask a second time give the same result, bit by bit."""
    model = build(check, rng, d_model=8, n_heads=2)
    tgt, memory, mask = targets(rng, 2, 2), rng.normal(2, 4, 8), rng.keep(2, 1, 4)
    _, cache = model.method("decode", targets(rng, 2, 3), memory, mask)
    first = model.method("decode", tgt, memory, mask, cache)
    model.method("decode", targets(rng, 2, 1), memory, None, cache)
    second = model.method("decode", tgt, memory, mask, cache)
    check.same(second[0], first[0], "the same call with the same cache gives other logits the second time")


def cost_of_a_step(check, rng, width, hidden, past):
    """Count what one token behind `past` cached ones costs, beside what is allowed: twice what it needs."""
    layers, heads, m = 2, 4, 5
    model = check.module(SOURCE, TARGET, width, heads, hidden, layers)
    keys = [rng.normal(2, heads, past, width // heads) for _ in range(2 * layers)]
    cache = list(zip(keys[:layers], keys[layers:], strict=True))
    step = model.do("decode", targets(rng, 2, 1), rng.normal(2, m, width), None, cache)
    attention = 4 * width**2 + 2 * (past + 1) * width
    cross_and_ffn = 2 * width**2 + 2 * m * width + 2 * width * hidden
    needed = 2 * (layers * (attention + cross_and_ffn + 2 * m * width**2) + width * TARGET)
    return step.cost, 2 * needed


@pytest.mark.cost
def test_a_step_works_on_new_tokens_only(check, rng):
    """One token behind a long prefix: the prefix is neither projected nor scored nor turned into logits again."""
    for past in (64, 192):
        cost, allowed = cost_of_a_step(check, rng, 32, 48, past)
        check.at_most(cost.madds, allowed, "a decode step does more than its share of multiply-adds")


@pytest.mark.cost
def test_a_step_through_wide_layers(check, rng):
    """A few tokens in the cache and wide hidden layers: they work for the new token only."""
    cost, allowed = cost_of_a_step(check, rng, 8, 256, 8)
    check.at_most(cost.madds, allowed, "a decode step does more than its share of multiply-adds")


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_faint_keys_with_loud_values(check, rng):
    """A weight of 1e-100 is a weight: its value may be as large."""
    model = build(check, rng, d_model=8, n_heads=2)
    nothing, one = torch.zeros(8, 8, dtype=torch.float64), torch.ones(8, dtype=torch.float64)
    keys, values = nothing.clone(), nothing.clone()
    keys[:, 0], values[:, 1] = 1.0, 1.0
    for name in ("decoder__layers__0__self_attn", "decoder__layers__0__cross_attn"):
        model.set(**{f"{name}__W_q__weight": nothing, f"{name}__W_q__bias": one})
        model.set(**{f"{name}__W_k__weight": keys, f"{name}__W_k__bias": 0 * one, f"{name}__W_v__weight": values})
    memory = rng.normal(2, 4, 8)
    memory[..., 0] = 0.0
    memory[:, 1, 0], memory[:, 1, 1] = -115.0, 1e100
    model.method("decode", targets(rng, 2, 3), memory)
    past_keys, past_values = torch.zeros(2, 2, 4, 4, dtype=torch.float64), rng.normal(2, 2, 4, 4)
    past_keys[:, :, 1], past_values[:, :, 1] = -115.0, 1e100 * past_values[:, :, 1]
    model.method("decode", targets(rng, 2, 1), rng.normal(2, 4, 8), cache=[(past_keys, past_values)])


@pytest.mark.derive("device", "contract")
def test_near_ties_at_large_scores(check, rng):
    """Scores of 16384 that differ by one or two: float32 tells them apart, and weights keep their digits."""
    model = build(check, rng, d_model=8, n_heads=8)
    nothing, one = torch.zeros(8, 8, dtype=torch.float64), torch.ones(8, dtype=torch.float64)
    keys, values = nothing.clone(), rng.normal(8, 8)
    keys[:, 0], values[:, 0] = 1.0, 0.0
    for name in ("decoder__layers__0__self_attn", "decoder__layers__0__cross_attn"):
        model.set(**{f"{name}__W_q__weight": nothing, f"{name}__W_q__bias": one, f"{name}__W_v__weight": values})
        model.set(**{f"{name}__W_k__weight": keys, f"{name}__W_k__bias": 0 * one})
    memory = rng.normal(2, 5, 8)
    memory[..., 0] = 2.0**14 + rng.integers(0, 3, 2, 5).double()
    cache = (2.0**14 + rng.integers(0, 3, 2, 8, 4, 1).double(), rng.normal(2, 8, 4, 1))
    model.method("decode", targets(rng, 2, 3), memory)
    model.method("decode", targets(rng, 2, 1), rng.normal(2, 4, 8), cache=[cache])


@pytest.mark.derive
def test_a_long_chunk_behind_a_cache(check, rng):
    """Forty tokens at once behind a prefix of seventy: each sees the whole prefix, and no later one."""
    model = build(check, rng, d_model=8, n_heads=2)
    feed(model, rng.normal(1, 4, 8), None, targets(rng, 1, 110), [70, 40])


@pytest.mark.derive("grad", "device", "contract")
def test_weights_are_loaded_between_calls(check, rng):
    """A step of an optimiser or a checkpoint changes the weights in place: the next call uses the new ones."""
    model = build(check, rng, d_model=8, n_heads=2)
    src, tgt = sources(rng, 2, 4), targets(rng, 2, 3)
    model(src, tgt)
    for attention in (
        "encoder__layers__0__attention",
        "decoder__layers__0__self_attn",
        "decoder__layers__0__cross_attn",
    ):
        model.set(**{f"{attention}__{name}__weight": rng.normal(8, 8) for name in ("W_v", "W_o")})
        model.set(**{f"{attention}__{name}__weight": rng.normal(8, 8, scale=0.02) for name in ("W_q", "W_k")})
    model(src, tgt)


@pytest.mark.precise
@pytest.mark.derive
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    model = build(check, rng, 72, 12, 80, 4, vocabularies=(1200, 1300), pad_id=1)
    model(rng.integers(2, 1200, 9, 6), rng.integers(2, 1300, 9, 6))
    small = build(check, rng, 4, 2, 3, 1, vocabularies=(1200, 1300))
    memory = 3e4 * rng.normal(1, 300, 4)
    small.method("decode", rng.integers(1, 1300, 1, 300), memory, torch.zeros(1, 1, 300, dtype=torch.bool))
    loud = [tuple(3e4 * rng.normal(1, 2, 3, 2) for _ in range(2))]
    small.method("decode", rng.integers(1, 1300, 1, 1), rng.normal(1, 4, 4), None, loud)
    small(rng.integers(1, 1200, 1, 300), rng.integers(1, 1300, 1, 300))
    small.method("encode", rng.integers(1, 1200, 4, 4))
    small.method("decode", rng.integers(1, 1300, 4, 4), rng.normal(4, 5, 4))
    tiny = build(check, rng, 1, 1, 1, 1, max_len=1)
    tiny(sources(rng, 2, 1), targets(rng, 2, 1))
    tiny.train()(sources(rng, 2, 1), targets(rng, 2, 1))
    tiny.eval()(sources(rng, 2, 1), targets(rng, 2, 1))
