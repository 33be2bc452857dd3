"""Hidden cases of decoder-block: what is dropped in training."""

import pytest
import torch
from cases import plain_norms, silence

from grader.kit.dropped import before_norm, shared, spread_of
from grader.kit.inference import inference_mode


def two_sums(check, block, spread, x, *others):
    """Call a block twice in training and undo its norms: the sums but for their first two features, of both calls.

    The first two features stand at +spread/2 and -spread/2 before the norms, so the scale is known.
    """
    with inference_mode(check):  # where nobody differentiates, a module in training drops as well
        first = block.train().run(x, *others)
        check.roll()
        second = block.run(x, *others)
    return [before_the_norms(check, result.got, x.shape, spread) for result in (first, second)]


def before_the_norms(check, got, shape, spread):
    """Undo the norms of one result."""
    output = got[0] if isinstance(got, tuple) and got else None
    fits = isinstance(output, torch.Tensor) and output.shape == shape
    check.that(fits, "in training the output is not a tensor of the shape of x")
    output = output.double() if fits else torch.zeros(shape, dtype=torch.float64)
    return before_norm(output, spread)


def check_lattice(check, both_sums, keys):
    """Equal weights for `keys` (n,) keys at dropout 0.5, values of 1: 2k/keys for k weights kept, twice that if kept.

    Features 0 to 5 and 8 to 13 of the sums are all of one head each.
    """
    heads, again = (keys[:, None] / 4 * torch.stack([s[..., 0:6], s[..., 8:14]]) for s in both_sums)  # (2, B, n, 6)
    kept, counts = heads > 0.2, heads.amax(-1)  # (2, B, n, 6), (2, B, n)
    seen = kept.any(-1)
    mixed = seen & ~kept.all(-1)
    left_whole = not mixed.any() and seen.float().mean() > 0.75
    check.that(not left_whole, "the output of the sublayer is not dropped out before the sum")
    halves = 2 * heads  # keys / 2 where no weight is dropped
    check.that((halves - halves.round()).abs().max() < 0.1, "sums are none that dropout 0.5 can give")
    check.that(mixed.float().mean() > 0.5, "features of a token are dropped together instead of one by one")
    alike = ((heads - counts[..., None]).abs() < 0.1)[kept].all()
    check.that(alike, "features of one head see different attention weights")
    whole = ((counts - keys / 2).abs() < 0.1)[seen].all()
    check.that(not whole, "the attention weights are not dropped out")
    check.that((counts - counts.round()).abs().max() < 0.1, "sums are none that dropout 0.5 can give")
    check.that(spread_of(counts, seen, 1) > 0.5, "all batch rows lose the same attention weights")
    check.that(spread_of(counts, seen, 2) > 1.5, "all queries lose the same attention weights")
    check.that(spread_of(counts, seen, 0) > 0.5, "both heads lose the same attention weights")
    check.that(not shared(kept, 1), "all batch rows lose the same features")
    check.that(not shared(kept, 2), "all tokens lose the same features")
    calls = torch.stack([kept, again > 0.2])
    check.that(not shared(calls, 0), "two calls in training drop the same features")
    apart = spread_of(torch.stack([counts, again.amax(-1)]), calls.any(-1), 0)
    check.that(apart > 0.5, "two calls in training drop the same attention weights")


def prepare_lattice(block, attention, others):
    """One attention with equal weights, values of 1 and a plain W_o; the other sublayers return 0."""
    plain_norms(block, 16)
    silence(block, 16, *others)
    zero, chosen = torch.zeros(16, dtype=torch.float64), torch.eye(16, dtype=torch.float64)
    chosen[:2] = 0.0  # the first two features stay as they are
    nothing = torch.zeros(16, 16, dtype=torch.float64)
    block.set(**{f"{attention}__W_q__weight": nothing, f"{attention}__W_q__bias": zero})
    block.set(**{f"{attention}__W_v__weight": nothing, f"{attention}__W_v__bias": zero + 1.0})
    block.set(**{f"{attention}__W_o__weight": chosen, f"{attention}__W_o__bias": zero})


def two_features(batch, length):
    """Tokens of which only the first two features are not 0."""
    x = torch.zeros(batch, length, 16, dtype=torch.float64)
    x[..., 0], x[..., 1] = 10.0, -10.0
    return x, torch.nn.functional.layer_norm(x[0, 0], (16,))


@pytest.mark.derive("grad", "device")
def test_dropout_of_the_self_attention(check, rng):
    """Dropout acts on the weights and again on the output; what is kept makes up for what is dropped."""
    block = check.module(d_model=16, n_heads=2, d_ff=4, dropout=0.5)
    prepare_lattice(block, "self_attn", ("cross_attn__W_o", "ffn__dense2"))
    x, _ = two_features(20, 2)
    past = rng.normal(20, 2, 6, 8), torch.ones(20, 2, 6, 8, dtype=torch.float64)
    sums = two_sums(check, block, 20.0, x, rng.normal(20, 3, 16), past)
    check_lattice(check, sums, torch.tensor([7.0, 8.0]))


@pytest.mark.derive("grad", "device")
def test_dropout_of_the_cross_attention(check, rng):
    """The same for the attention over the memory."""
    block = check.module(d_model=16, n_heads=2, d_ff=4, dropout=0.5)
    prepare_lattice(block, "cross_attn", ("self_attn__W_o", "ffn__dense2"))
    x, normed = two_features(20, 2)
    sums = two_sums(check, block, float(normed[0] - normed[1]), x, rng.normal(20, 8, 16))
    check_lattice(check, sums, torch.tensor([8.0, 8.0]))


@pytest.mark.derive("grad", "device")
def test_dropout_of_the_feed_forward_network(check, rng):
    """The output of the feed-forward network is dropped feature by feature, and what is kept is doubled."""
    block = check.module(d_model=16, n_heads=2, d_ff=4, dropout=0.5)
    plain_norms(block, 16)
    silence(block, 16, "self_attn__W_o", "cross_attn__W_o", "ffn__dense2")
    ones = torch.ones(16, dtype=torch.float64)
    ones[:2] = 0.0
    block.set(ffn__dense2__bias=ones)
    x, normed = two_features(20, 2)
    sums, again = two_sums(check, block, float(normed[0] - normed[1]), x, rng.normal(20, 3, 16))
    dropped, doubled = sums.abs() < 0.05, (sums - 2.0).abs() < 0.05
    check.that((dropped | doubled).all(), "a feature is neither dropped nor doubled at dropout 0.5")
    mixed = dropped.any(-1) & doubled.any(-1)
    check.that(mixed.float().mean() > 0.8, "features of a token are dropped together instead of one by one")
    check.that((doubled != doubled[:1]).any(), "all batch rows lose the same features")
    check.that((doubled != doubled[:, :1]).any(), "all tokens lose the same features")
    check.that((doubled != (again > 1.0)).any(), "two calls in training drop the same features")
