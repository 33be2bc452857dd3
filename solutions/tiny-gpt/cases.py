"""Hidden cases of tiny-gpt."""

import pytest
import torch

from grader.kit import norms

# A norm magnifies rounding where its input varies little, so the `dtype` variants are those of wide models.
without_dtype = pytest.mark.derive("grad", "device", "contract")


def text(rng, vocab_size, batch, length):
    """Draw tokens, none of them 0."""
    return rng.integers(1, vocab_size, batch, length)


def padded(tokens, lengths, pad_id=0):
    """Keep the first tokens of each text and pad the rest."""
    return torch.where(torch.arange(tokens.size(1)) < torch.tensor(lengths)[:, None], tokens, pad_id)


def test_by_hand(check):
    """The example of the brief: no block, so each token predicts by its own embedding; 0 is padding."""
    model = check.module(vocab_size=3, d_model=2, n_heads=1, n_layers=0, max_len=3)
    model.set(token_embedding__weight=torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    model.set(position_embedding__weight=torch.zeros(3, 2), norm__weight=torch.ones(2), norm__bias=torch.zeros(2))
    tokens = torch.tensor([[1, 1, 2], [1, 2, 0]])
    model(tokens, tokens)


def test_without_blocks(check, rng):
    """No block at all: embeddings, the last norm, the head and the loss."""
    model = check.module(vocab_size=11, d_model=32, n_heads=4, n_layers=0, max_len=6)
    tokens = text(rng, 11, 3, 5)
    model(tokens, tokens.clone())


@without_dtype
def test_one_token(check, rng):
    """A text of one token: embeddings, a block in which it sees itself, and the head."""
    model = check.module(vocab_size=7, d_model=8, n_heads=2, n_layers=1, max_len=5)
    model(text(rng, 7, 3, 1))


def test_a_short_text(check, rng):
    """Logits for each position; without targets the loss is None."""
    model = check.module(vocab_size=11, d_model=32, n_heads=4, n_layers=1, max_len=9)
    model(text(rng, 11, 2, 5))


@without_dtype
@pytest.mark.parametrize("sizes", [(13, 6, 1, 1, 7), (5, 4, 4, 2, 6), (9, 8, 2, 3, 8), (30, 12, 3, 2, 5)])
def test_sizes(check, rng, sizes):
    """vocab_size, d_model, n_heads, n_layers, max_len: one head, narrow heads, several blocks, many tokens."""
    model = check.module(*sizes)
    model(text(rng, sizes[0], 2, 4))


def test_several_blocks(check, rng):
    """Each block has weights of its own and continues where the one before it stopped."""
    model = check.module(vocab_size=11, d_model=32, n_heads=2, n_layers=3, max_len=6)
    tokens = text(rng, 11, 2, 6)
    model(tokens, tokens)


@without_dtype
def test_all_sizes_equal(check, rng):
    """B == S == H == d_head == n_layers, where a wrong axis does not show in the shape."""
    model = check.module(9, 9, 3, 3, 9)
    model(text(rng, 9, 3, 3))


@without_dtype
def test_as_long_as_there_are_positions(check, rng):
    """A text of exactly max_len tokens uses every position."""
    model = check.module(vocab_size=7, d_model=8, n_heads=2, n_layers=1, max_len=4)
    tokens = text(rng, 7, 2, 4)
    model(tokens, targets=tokens)


@without_dtype
def test_one_token_again_and_again(check, rng):
    """The same token everywhere: only the positions tell the logits apart."""
    model = check.module(vocab_size=7, d_model=8, n_heads=2, n_layers=2, max_len=6)
    model(text(rng, 7, 2, 1).expand(2, 5))


@without_dtype
@pytest.mark.parametrize("length", [2, 3, 6])
def test_loss_of_the_next_token(check, rng, length):
    """The text is its own target: what is predicted at a position is what stands at the next."""
    model = check.module(vocab_size=7, d_model=8, n_heads=2, n_layers=1, max_len=6)
    tokens = text(rng, 7, 3, length)
    model(tokens, tokens)


@without_dtype
def test_targets_that_are_not_the_tokens(check, rng):
    """Targets of their own, which nothing in the tokens gives away."""
    model = check.module(vocab_size=9, d_model=8, n_heads=2, n_layers=1, max_len=6)
    model(text(rng, 9, 3, 5), text(rng, 9, 3, 5))


def test_loss_of_padded_texts(check, rng):
    """Texts of different lengths, padded on the right: padding is not to be predicted, and counts nowhere."""
    model = check.module(vocab_size=11, d_model=32, n_heads=4, n_layers=2, max_len=8)
    tokens = padded(text(rng, 11, 3, 7), [7, 4, 2])
    model(tokens, tokens)


@without_dtype
def test_answers_only(check, rng):
    """The targets of the prompt are padding: the loss is that of the answer alone."""
    model = check.module(vocab_size=9, d_model=8, n_heads=2, n_layers=1, max_len=8)
    tokens = text(rng, 9, 2, 6)
    targets = tokens.clone()
    targets[0, :4], targets[1, :2], targets[1, 5] = 0, 0, 0
    model(tokens, targets)


@without_dtype
@pytest.mark.parametrize("pad_id", [3, 8])
def test_another_token_for_padding(check, rng, pad_id):
    """pad_id is a token like all others to the model; the loss leaves it out, and 0 counts."""
    model = check.module(9, 8, 2, 1, 8, pad_id)
    tokens = padded(rng.integers(0, 9, 3, 6), [6, 3, 5], pad_id)
    model(tokens, tokens)


@pytest.mark.derive("device")
def test_training_mode_computes_the_same(check, rng):
    """There is nothing random in this model."""
    model = check.module(vocab_size=9, d_model=8, n_heads=2, n_layers=2, max_len=8).train()
    tokens = text(rng, 9, 2, 6)
    model(tokens, tokens)


@pytest.mark.derive("dtype")
def test_large_values(check, rng):
    """Tokens of a thousand: their squares are beyond float16, what a norm makes of them is not."""
    model = check.module(vocab_size=11, d_model=32, n_heads=4, n_layers=1, max_len=6)
    nothing, zero = torch.zeros(32, 32, dtype=torch.float64), torch.zeros(32, dtype=torch.float64)
    model.set(blocks__0__attention__W_q__weight=nothing, blocks__0__attention__W_q__bias=zero)
    model.set(token_embedding__weight=rng.normal(11, 32, scale=1e3), norm__weight=0.125 + zero)
    model(text(rng, 11, 2, 5))
    model.set(blocks__0__norm1__weight=1e3 + zero, blocks__0__norm2__weight=1e3 + zero)  # as loud as the tokens
    model(text(rng, 11, 2, 5))


@pytest.mark.derive("device")
def test_tokens_far_from_zero(check, rng):
    """The last norm meets tokens thousands of deviations away from 0: their variance is no difference of squares."""
    model = check.module(vocab_size=11, d_model=32, n_heads=4, n_layers=0, max_len=6)
    ones, features = torch.ones(32, dtype=torch.float64), torch.eye(11, 32, dtype=torch.float64)
    positions = norms.far_tokens(rng, 6, 32)
    model.set(token_embedding__weight=features, position_embedding__weight=positions)
    model.set(norm__weight=ones, norm__bias=0.0 * ones)
    tokens = text(rng, 11, 2, 6)
    logits, _loss = model.run(tokens)
    norms.check_deviations(check, logits.got, norms.normed(features[tokens] + positions - norms.LEVEL)[..., :11])


@pytest.mark.derive("dtype")
def test_digits_of_double_precision(check, rng):
    """In float64 all scores lie around ten million and differ by about one: the digits must not get lost."""
    model = check.module(vocab_size=9, d_model=32, n_heads=2, n_layers=1, max_len=6)
    height = 1e7 if check.dtype == torch.float64 else 1.0
    model.set(blocks__0__attention__W_k__bias=torch.full((32,), height, dtype=torch.float64))
    tokens = text(rng, 9, 2, 6)
    model(tokens, tokens)


@pytest.mark.mask
@pytest.mark.derive
@pytest.mark.parametrize("n_layers", [1, 2])
def test_later_tokens_leave_no_trace(check, rng, n_layers):
    """Later tokens are replaced: not one bit of the earlier logits may change."""
    model = check.module(vocab_size=20, d_model=8, n_heads=2, n_layers=n_layers, max_len=8)
    tokens = text(rng, 20, 3, 7)
    other = torch.cat([tokens[:, :4], tokens[:, 4:] % 19 + 1], dim=1)
    before, after = model(tokens)[0].got, model.run(other)[0].got
    check.same(after[:, :4], before[:, :4], "the logits of a position depend on a later token")


@pytest.mark.mask
@pytest.mark.derive("dtype")
def test_scores_below_minus_ten_thousand(check, rng):
    """All scores are -16384, which float16 has: -10,000 in the place of the future would be more."""
    model = check.module(vocab_size=20, d_model=32, n_heads=8, n_layers=1, max_len=8)
    first, nothing = torch.zeros(32, dtype=torch.float64), torch.zeros(32, 32, dtype=torch.float64)
    first[::4] = 1.0  # of each head
    model.set(blocks__0__attention__W_q__weight=nothing, blocks__0__attention__W_q__bias=first)
    model.set(blocks__0__attention__W_k__weight=nothing, blocks__0__attention__W_k__bias=-(2.0**15) * first)
    model(text(rng, 20, 4, 6))


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize("level", [-(2.0**14), 2.0**14, -(2.0**115)])
def test_scores_far_below_and_above_zero(check, rng, level):
    """All scores lie at the same level, far from zero: what is seen shares the weight, and what is hidden has none."""
    model = check.module(vocab_size=20, d_model=8, n_heads=2, n_layers=1, max_len=8)
    nothing, ones = torch.zeros(8, 8, dtype=torch.float64), torch.ones(8, dtype=torch.float64)
    model.set(blocks__0__attention__W_q__weight=nothing, blocks__0__attention__W_q__bias=level / 256 * ones)
    model.set(blocks__0__attention__W_k__weight=nothing, blocks__0__attention__W_k__bias=128 * ones)
    model(text(rng, 20, 4, 6))


@pytest.mark.mask
@pytest.mark.derive("device")
def test_padding_makes_no_difference_to_a_text(check, rng):
    """A text has the same logits and the same loss alone and padded on the right."""
    model = check.module(vocab_size=9, d_model=8, n_heads=2, n_layers=2, max_len=8)
    tokens = text(rng, 9, 1, 7)
    alone = model(tokens[:, :4], tokens[:, :4])
    longer = model(padded(tokens, [4]), padded(tokens, [4]))
    check.close(longer[0].got[:, :4], alone[0].got, "a padded text has other logits than the same text alone")
    check.close(longer[1].got, alone[1].got, "a padded text has another loss than the same text alone")


@pytest.mark.contract
@pytest.mark.parametrize("length", [5, 6, 12])
def test_more_tokens_than_positions(check, rng, length):
    """A text that is too long is refused, with targets and without."""
    model = check.module(vocab_size=20, d_model=8, n_heads=2, n_layers=1, max_len=4)
    tokens = text(rng, 20, 2, length)
    with check.raises(ValueError):
        model(tokens)
    with check.raises(ValueError):
        model(tokens, tokens)


@pytest.mark.contract
@pytest.mark.parametrize(("d_model", "n_heads"), [(10, 3), (6, 4), (4, 8)])
def test_width_not_divisible_by_heads(check, d_model, n_heads):
    """Impossible sizes are refused when the model is built."""
    with check.raises(ValueError):
        check.module(vocab_size=7, d_model=d_model, n_heads=n_heads, n_layers=1, max_len=4)


@pytest.mark.derive
def test_sizes_that_people_run(check, rng):
    """A vocabulary of a thousand, twelve heads, five layers, 100 tokens."""
    model = check.module(vocab_size=1000, d_model=48, n_heads=12, n_layers=5, max_len=110)
    tokens = text(rng, 1000, 2, 100)
    model(tokens, tokens)


@pytest.mark.derive("dtype")
def test_positions_beyond_256(check, rng):
    """In bfloat16 257 is no number, but it is a position."""
    model = check.module(vocab_size=11, d_model=32, n_heads=4, n_layers=0, max_len=300)
    model(text(rng, 11, 1, 1).expand(1, 300))


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_faint_keys_with_loud_values(check, rng):
    """A weight of 1e-100 is a weight: its value may be as large."""
    model = check.module(vocab_size=3, d_model=4, n_heads=1, n_layers=1, max_len=5)
    faint, usual, other = torch.tensor([-1.0, 0, 0, 1.0]), torch.ones(4), 2 * torch.ones(4)  # a norm makes 0 of those
    model.set(token_embedding__weight=torch.stack([usual, faint, other]))
    model.set(position_embedding__weight=torch.zeros(5, 4))
    nothing, one = torch.zeros(4, 4, dtype=torch.float64), torch.ones(4, dtype=torch.float64)
    keys, values = nothing.clone(), nothing.clone()
    keys[:, 0], values[:, 3] = 81.0, 1e98
    model.set(blocks__0__norm1__weight=one, blocks__0__norm1__bias=0 * one)
    model.set(blocks__0__attention__W_q__weight=nothing, blocks__0__attention__W_q__bias=one)
    model.set(blocks__0__attention__W_k__weight=keys, blocks__0__attention__W_v__weight=values)
    model.set(blocks__0__attention__W_v__bias=rng.normal(4))
    model(torch.tensor([[0, 1, 2, 0]]))


@pytest.mark.derive("grad", "device", "contract")
def test_weights_are_loaded_between_calls(check, rng):
    """A step of an optimiser or a checkpoint changes the weights in place: the next call uses the new ones."""
    model = check.module(vocab_size=9, d_model=8, n_heads=2, n_layers=1, max_len=8)
    tokens = text(rng, 9, 2, 6)
    model(tokens)
    names = ("W_q", "W_k", "W_v", "W_o")
    model.set(**{f"blocks__0__attention__{name}__weight": rng.normal(8, 8) for name in names})
    model.set(blocks__0__ffn__dense1__weight=rng.normal(32, 8), blocks__0__ffn__dense2__weight=rng.normal(8, 32))
    model.set(token_embedding__weight=rng.normal(9, 8), position_embedding__weight=rng.normal(8, 8))
    model(tokens)


@pytest.mark.derive
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    model = check.module(vocab_size=1200, d_model=72, n_heads=2, n_layers=1, max_len=520)
    tokens = text(rng, 1200, 1, 520)
    model(tokens, tokens)
    model(text(rng, 1200, 9, 3), text(rng, 1200, 9, 3))
    check.module(vocab_size=7, d_model=1, n_heads=1, n_layers=1, max_len=1)(text(rng, 7, 2, 1))
    model.train()(tokens[:, :5])
    model.eval()(tokens[:, :5])
