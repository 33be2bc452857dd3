"""Hidden cases of transformer: what is dropped in training."""

import pytest
import torch
from cases import SOURCE, TARGET, build, padded, sources, targets
from cases_cache import feed, feed_uncompared

from grader.kit import dropout_gradients
from grader.kit.inference import inference_mode


def test_no_dropout_in_evaluation(check, rng):
    """In evaluation mode a rate of one half, the seventh setting, changes nothing."""
    model = build(check, rng, 16, 2, 8, 1, 0.5)
    model(sources(rng, 2, 4), targets(rng, 2, 3))


@pytest.mark.derive("grad", "device")
def test_training_without_dropout(check, rng):
    """In training, too, the decoder is causal; a rate of 0, the default, changes nothing."""
    model = build(check, rng, d_model=16, n_layers=2).train()
    model(padded(rng, [5, 2]), targets(rng, 2, 5))


@pytest.mark.derive("grad", "device", "contract")
def test_everything_dropped(check, rng):
    """With a rate of 1 nothing of tokens, positions and sublayers is left in training: norms of nothing, and a bias."""
    model = build(check, rng, d_model=16, n_layers=2, dropout=1.0).train()
    model(sources(rng, 2, 4), targets(rng, 2, 3))
    model.method("encode", sources(rng, 2, 4))
    feed(model, rng.normal(2, 4, 16), None, targets(rng, 2, 3), [2, 1])


@pytest.mark.derive
def test_dropout_in_inference_mode(check, rng):
    """What nobody differentiates drops as well, as long as the module is in training."""
    model = build(check, rng, d_model=16, n_layers=2, dropout=1.0).train()
    with inference_mode(check):
        model(sources(rng, 2, 4), targets(rng, 2, 3))
        model.method("encode", sources(rng, 2, 4))


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
        memory, tgt = rng.normal(80, 1, 16), targets(rng, 80, 2)
        behind = feed_uncompared(model, memory, None, tgt, [1, 1])[:, 1:]  # of two keys both may be dropped
    for logits in (got, behind):
        check.that(logits.shape == (80, 1, 16), f"the logits have the shape {tuple(logits.shape)}")
        # What is kept is larger by far than all else, and above 0 behind a norm.
        silent = (logits.view(80, 2, 8) < 0).all(-1).sum(-1)
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


@pytest.mark.grad
def test_gradients_follow_what_was_dropped(check, rng):
    """Going back meets the entries and the weights that were dropped on the way here, in each part."""
    encoder, decoder = "encoder.layers.0", "decoder.layers.0"
    norms = [f"{encoder}.addnorm1.ln", f"{encoder}.addnorm2.ln", *(f"{decoder}.norm{number}" for number in (1, 2, 3))]
    first, memory, asks, second, last = (dropout_gradients.loud(rng, norm, 6) for norm in norms)
    embedded = [{f"{side}.embedding.weight": rng.normal(9, 6, scale=1e9)} for side in ("encoder", "decoder")]
    mixed = {f"{decoder}.cross_attn.W_o.weight": rng.normal(6, 6)}
    attentions = [f"{encoder}.attention", f"{decoder}.self_attn", f"{decoder}.cross_attn"]
    linear = [(f"{attention}.{name}", 6) for attention in attentions for name in ("W_q", "W_v", "W_o")]
    linear += [
        (f"{side}.ffn.{name}", width) for side in (encoder, decoder) for name, width in (("dense1", 8), ("dense2", 6))
    ]
    model = check.module(9, 9, 6, 2, 8, 1, dropout=0.5).set(
        **dropout_gradients.without_bias(*linear, ("decoder.dense", 9))
    )
    model.set(**{f"{attention}.W_q.weight": torch.zeros(6, 6) for attention in attentions})  # all weights are alike
    for drawn in (first, memory, asks, second, last, mixed, *embedded):
        model.set(**drawn)
    logits = model.train().run(rng.integers(1, 9, 3, 5), rng.integers(1, 9, 3, 4))
    dropout_gradients.grows_with(check, logits, last)
    for those in (*embedded, first, second, asks | memory, asks | mixed):  # a norm stands behind each
        dropout_gradients.does_not_grow_with(check, logits, those)
