"""Hidden cases of decoder-block: what is dropped in training."""

import pytest
import torch
from cases import plain_norms

from grader.kit import dropout_gradients, dropped


def sublayer(check, kept, *others):
    """Build a block with dropout in which all sublayers but one return 0."""
    block = check.module(d_model=16, n_heads=2, d_ff=4, dropout=0.5)
    plain_norms(block, 16)
    dropped.silence(block, 16, *others)
    if kept:
        dropped.equal_weights(block, kept)
    else:
        dropped.ones_behind(block, "ffn__dense2")
    return block


def behind_w_o(check, block, attention, *inputs):
    """Look whether the bias of W_o is dropped, too: it is no part of the context."""
    dropped.silence(block, 16, f"{attention}__W_o")
    dropped.ones_behind(block, f"{attention}__W_o")
    dropped.check_features(check, *dropped.two_sums(check, block, *inputs))


@pytest.mark.derive("grad", "device")
def test_dropout_of_the_self_attention(check, rng):
    """Dropout acts on the weights and again on what W_o returns; what is kept makes up for what is dropped."""
    block = sublayer(check, "self_attn", "cross_attn__W_o", "ffn__dense2")
    x, _ = dropped.two_features(20, 2)
    past = rng.normal(20, 2, 6, 8), torch.ones(20, 2, 6, 8, dtype=torch.float64)
    memory = rng.normal(20, 3, 16)
    sums = dropped.two_sums(check, block, 20.0, x, memory, past)
    dropped.check_lattice(check, sums, torch.tensor([7.0, 8.0]))
    behind_w_o(check, block, "self_attn", 20.0, x, memory, past)


@pytest.mark.derive("grad", "device")
def test_dropout_of_the_cross_attention(check, rng):
    """The same for the attention over the memory."""
    block = sublayer(check, "cross_attn", "self_attn__W_o", "ffn__dense2")
    x, spread = dropped.two_features(20, 2)
    memory = rng.normal(20, 8, 16)
    sums = dropped.two_sums(check, block, spread, x, memory)
    dropped.check_lattice(check, sums, torch.tensor([8.0, 8.0]))
    behind_w_o(check, block, "cross_attn", spread, x, memory)


@pytest.mark.derive("grad", "device")
def test_dropout_of_the_feed_forward_network(check, rng):
    """The output of the feed-forward network is dropped feature by feature, and what is kept is doubled."""
    block = sublayer(check, "", "self_attn__W_o", "cross_attn__W_o", "ffn__dense2")
    x, spread = dropped.two_features(20, 2)
    dropped.check_features(check, *dropped.two_sums(check, block, spread, x, rng.normal(20, 3, 16)))


@pytest.mark.grad
def test_gradients_follow_what_was_dropped(check, rng):
    """Going back meets the entries and the weights that were dropped on the way here, in each sublayer."""
    first, second, last = (dropout_gradients.loud(rng, f"norm{number}", 6) for number in (1, 2, 3))
    own, other = ({f"{attention}.W_o.weight": rng.normal(6, 6)} for attention in ("self_attn", "cross_attn"))
    values = {"cross_attn.W_v.weight": rng.normal(6, 6, scale=1e4)}
    linear = [("self_attn.W_o", 6), ("cross_attn.W_v", 6), ("cross_attn.W_o", 6), ("ffn.dense1", 8), ("ffn.dense2", 6)]
    block = check.module(d_model=6, n_heads=2, d_ff=8, dropout=0.5)
    block.set(**first, **second, **last, **own, **other, **values, **dropout_gradients.without_bias(*linear))
    # What the tokens are changes no weight of the cross-attention: they count in the sum alone.
    block.set(cross_attn__W_q__weight=torch.zeros(6, 6), self_attn__W_v__bias=rng.normal(6, scale=1e4))
    output, _ = block.train().run(torch.zeros(3, 4, 6), rng.normal(3, 5, 6))
    dropout_gradients.grows_with(check, output, last)
    for sources in (second, own, first | other, first | values):  # a norm stands behind each
        dropout_gradients.does_not_grow_with(check, output, sources)
    x, score = dropout_gradients.behind_a_sink(block, rng, "self_attn", 3, 5)
    dropout_gradients.does_not_grow_with(check, block.run(x, rng.normal(3, 5, 6))[0], score)
    block = check.module(d_model=6, n_heads=2, d_ff=8, dropout=0.5).train()
    memory, score = dropout_gradients.behind_a_sink(block, rng, "cross_attn", 3, 5)
    dropout_gradients.does_not_grow_with(check, block.run(rng.normal(3, 4, 6), memory)[0], score)
