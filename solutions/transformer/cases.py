"""Hidden cases of transformer."""

import pytest
import torch

from grader.kit import norms
from grader.kit.dropped import silence
from grader.kit.tokens import outweigh_positions, with_ids

# Gradients through a cache that was handed in are not graded: cases that hand one on have no `grad` variant.
# A norm magnifies rounding where its input varies little, so the `dtype` variants are those of wide models.
without_dtype = pytest.mark.derive("grad", "device", "contract")


without_both = pytest.mark.derive("device", "contract")


SOURCE, TARGET, PAD = 11, 13, 0


def build(check, rng, d_model=32, n_heads=4, d_ff=24, n_layers=1, *more, vocabularies=(SOURCE, TARGET), **settings):
    """Build a model; in float64 the tokens outweigh the table of positions, which has the digits of float32."""
    model = check.module(*vocabularies, d_model, n_heads, d_ff, n_layers, *more, **settings)
    return outweigh_positions(check, rng, model, vocabularies, d_model)


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


@pytest.mark.derive("device")
def test_tokens_far_from_zero(check, rng):
    """All norms meet tokens whose mean is thousands of deviations away: their variance is no difference of squares."""
    model = check.module(SOURCE, TARGET, 16, 2, 4, 1)
    ones, features = torch.ones(16, dtype=torch.float64), torch.eye(TARGET, 16, dtype=torch.float64)
    layers = {
        "encoder": ("attention__W_o", "ffn__dense2"),
        "decoder": ("self_attn__W_o", "cross_attn__W_o", "ffn__dense2"),
    }
    for side, silent in layers.items():
        silence(model, 16, *(f"{side}__layers__0__{layer}" for layer in silent))
    named = ("encoder__layers__0__addnorm{}__ln", 2), ("decoder__layers__0__norm{}", 3)
    for name, last in named:
        for number in range(1, last + 1):
            level = 0.0 if number == last else norms.LEVEL
            model.set(**{f"{name.format(number)}__weight": ones, f"{name.format(number)}__bias": level * ones})
    model.set(decoder__dense__weight=features, decoder__dense__bias=0.0 * ones[:TARGET])
    words = norms.far_tokens(rng, 16, 16)  # four times a quarter of that, and the first position, which is 0 and 1
    model.set(encoder__embedding__weight=words[:SOURCE] / 4, decoder__embedding__weight=words[:TARGET] / 4)
    src, tgt = sources(rng, 3, 1), targets(rng, 3, 1)
    steps = words - norms.LEVEL + torch.tensor([0.0, 1.0], dtype=torch.float64).repeat(8)
    memory, _mask = model.do("encode", src)
    norms.check_deviations(check, memory.got, norms.normed(steps[src], times=2))
    norms.check_deviations(check, model.run(src, tgt).got, norms.normed(steps[tgt], times=3)[..., :TARGET])


@pytest.mark.derive("dtype", "grad", "device")
def test_without_layers(check, rng):
    """No layers: embeddings and positions are the memory; position 257 is no number in bfloat16."""
    model = check.module(SOURCE, TARGET, 32, 4, 24, 0, max_len=300)
    loud = 40.0 if check.variant_dtype == torch.float64 else 1.0  # the table has the digits of float32
    model.set(encoder__embedding__weight=rng.normal(SOURCE, 32, scale=loud / 32**0.5))
    model.method("encode", sources(rng, 1, 1).expand(1, 300))


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
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    model = build(check, rng, 72, 12, 80, 4, vocabularies=(1200, 1300), pad_id=1)
    model(with_ids(rng.integers(2, 1200, 9, 6), 257, 513, 1025), with_ids(rng.integers(2, 1300, 9, 6), 257, 513, 1025))
    small = build(check, rng, 4, 2, 3, 1, vocabularies=(1200, 1300))
    memory = 3e4 * rng.normal(1, 300, 4)
    small.method("decode", rng.integers(1, 1300, 1, 300), memory, torch.zeros(1, 1, 300, dtype=torch.bool))
    loud = [tuple(3e4 * rng.normal(1, 2, 3, 2) for _ in range(2))]
    small.method("decode", rng.integers(1, 1300, 1, 1), rng.normal(1, 4, 4), None, loud)
    source, target = (rng.integers(1, count, 1, 300) for count in (1200, 1300))
    small(with_ids(source, 128, 256, 512, 1024), with_ids(target, 128, 256, 512, 1024))
    small.method("encode", rng.integers(1, 1200, 4, 4))
    small.method("decode", rng.integers(1, 1300, 4, 4), rng.normal(4, 5, 4))


@pytest.mark.precise
@pytest.mark.derive
def test_one_of_everything(check, rng):
    """One feature, head, layer and position: what its norms leave is their bias, in both modes."""
    tiny = build(check, rng, 1, 1, 1, 1, max_len=1)
    tiny(sources(rng, 2, 1), targets(rng, 2, 1))
    tiny.train()(sources(rng, 2, 1), targets(rng, 2, 1))
    tiny.eval()(sources(rng, 2, 1), targets(rng, 2, 1))
