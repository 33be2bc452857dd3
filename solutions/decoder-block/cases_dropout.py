"""Hidden cases of decoder-block: what is dropped in training."""

import pytest
import torch
from cases import plain_norms

from grader.kit import dropped


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
