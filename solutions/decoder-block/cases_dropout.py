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
        dropped.ones_behind_the_ffn(block)
    return block


@pytest.mark.derive("grad", "device")
def test_dropout_of_the_self_attention(check, rng):
    """Dropout acts on the weights and again on the output; what is kept makes up for what is dropped."""
    block = sublayer(check, "self_attn", "cross_attn__W_o", "ffn__dense2")
    x, _ = dropped.two_features(20, 2)
    past = rng.normal(20, 2, 6, 8), torch.ones(20, 2, 6, 8, dtype=torch.float64)
    sums = dropped.two_sums(check, block, 20.0, x, rng.normal(20, 3, 16), past)
    dropped.check_lattice(check, sums, torch.tensor([7.0, 8.0]))


@pytest.mark.derive("grad", "device")
def test_dropout_of_the_cross_attention(check, rng):
    """The same for the attention over the memory."""
    block = sublayer(check, "cross_attn", "self_attn__W_o", "ffn__dense2")
    x, spread = dropped.two_features(20, 2)
    sums = dropped.two_sums(check, block, spread, x, rng.normal(20, 8, 16))
    dropped.check_lattice(check, sums, torch.tensor([8.0, 8.0]))


@pytest.mark.derive("grad", "device")
def test_dropout_of_the_feed_forward_network(check, rng):
    """The output of the feed-forward network is dropped feature by feature, and what is kept is doubled."""
    block = sublayer(check, "", "self_attn__W_o", "cross_attn__W_o", "ffn__dense2")
    x, spread = dropped.two_features(20, 2)
    dropped.check_features(check, *dropped.two_sums(check, block, spread, x, rng.normal(20, 3, 16)))
