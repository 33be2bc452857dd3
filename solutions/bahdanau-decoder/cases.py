"""Hidden cases of bahdanau-decoder."""

import pytest
import torch

from grader.kit.digits import keeps_digits
from grader.kit.inference import inference_mode

# Nobody says that a gradient goes on from call to call, nor through the weights that a call leaves behind.
without_grad = pytest.mark.derive("dtype", "device", "contract")


def encoded(rng, batch, length, hidden, layers):
    """Draw what an encoder returns: its outputs, and the last hidden state of each layer."""
    return rng.normal(batch, length, hidden), rng.normal(layers, batch, hidden)


def decode(decoder, rng, sizes, lens=None, steps=(3,), **settings):
    """Decode random tokens, so many in each call, for sizes (B, T, vocab, hidden, layers)."""
    batch, length, vocab, hidden, layers = sizes
    tokens = [rng.integers(0, vocab, batch, count) for count in steps]
    return decoder.unroll("init_state", (encoded(rng, batch, length, hidden, layers), lens), tokens, **settings)


def logits_of(check, result, shape):
    """Return the logits of a call that is not compared; zeros where there are none of this shape."""
    got = result.got
    logits = got[0] if isinstance(got, (tuple, list)) and got else None
    fits = isinstance(logits, torch.Tensor) and logits.shape == shape
    check.that(fits, f"the call returned no logits of the shape {shape}")
    return logits if fits else torch.zeros(shape)


def dial(rng, decoder, level, rest=0.0):
    """Score keys of width 4 by the sign of their first feature times `level`, and by a small rest that others add."""
    from_keys, from_queries = 0.5 * rng.normal(4, 4), 0.5 * rng.normal(4, 4)
    from_keys[0] = torch.tensor([40.0, 0.0, 0.0, 0.0])
    from_queries[0] = 0.0
    judge = rest * rng.normal(1, 4)
    judge[0, 0] = level
    return decoder.set(
        attention__W_q__weight=from_queries, attention__W_k__weight=from_keys, attention__w_v__weight=judge
    )


@without_grad
def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    decoder = check.module(vocab_size=2, embed_size=1, num_hiddens=2, num_layers=1)
    same, judge = torch.eye(2), torch.tensor([[2.0, 0.0]])
    decoder.set(attention__W_q__weight=same, attention__W_k__weight=same, attention__w_v__weight=judge)
    decoder.set(embedding__weight=torch.tensor([[0.0], [1.0]]), dense__weight=same, dense__bias=torch.zeros(2))
    # The update gate is shut: the new hidden state is tanh(context + embedding).
    from_inputs = torch.tensor([[0.0] * 3] * 4 + [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    shut = torch.tensor([0.0, 0.0, -60.0, -60.0, 0.0, 0.0])
    decoder.set(rnn__weight_ih_l0=from_inputs, rnn__weight_hh_l0=torch.zeros(6, 2))
    decoder.set(rnn__bias_ih_l0=shut, rnn__bias_hh_l0=torch.zeros(6))
    outputs = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [9.0, 9.0]]])
    given = ((outputs, torch.zeros(1, 1, 2)), torch.tensor([2]))
    decoder.unroll("init_state", given, [torch.tensor([[0, 1]])])
    decoder.method("attention_weights")


def test_one_step(check, rng):
    """One token, one layer: attend, then one step of the GRU."""
    decoder = check.module(vocab_size=5, embed_size=3, num_hiddens=4, num_layers=1)
    decode(decoder, rng, (2, 3, 5, 4, 1), steps=[1])


def test_several_steps(check, rng):
    """Each step asks anew, with the hidden state that the step before left."""
    decoder = check.module(vocab_size=7, embed_size=3, num_hiddens=5, num_layers=1)
    decode(decoder, rng, (2, 4, 7, 5, 1), steps=[4])


@pytest.mark.parametrize("layers", [2, 3])
def test_several_layers(check, rng, layers):
    """The last layer asks; every layer begins with its own hidden state."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=layers)
    decode(decoder, rng, (3, 4, 6, 5, layers))


def test_all_sizes_are_equal(check, rng):
    """B == T == S == layers and all widths, where a wrong axis does not show in the shape."""
    decoder = check.module(vocab_size=3, embed_size=3, num_hiddens=3, num_layers=3)
    decode(decoder, rng, (3, 3, 3, 3, 3))


def test_sizes_of_one(check, rng):
    """A single sequence, a single thing to look at; widths of one."""
    decode(check.module(vocab_size=4, embed_size=1, num_hiddens=1, num_layers=1), rng, (1, 1, 4, 1, 1), steps=[2])
    decode(check.module(vocab_size=4, embed_size=1, num_hiddens=2, num_layers=2), rng, (1, 3, 4, 2, 2), steps=[1])


def test_wide_embeddings(check, rng):
    """Embeddings wider than the hidden state, more tokens than things to look at; settings by position."""
    decode(check.module(9, 8, 3, 1), rng, (2, 2, 9, 3, 1), steps=[5])


@without_grad
@pytest.mark.parametrize("steps", [[1, 1], [2, 1, 3]])
def test_state_is_handed_on(check, rng, steps):
    """The next call goes on with the state that the call before returned."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=2)
    decode(decoder, rng, (2, 4, 6, 5, 2), rng.integers(1, 5, 2), steps)


@pytest.mark.derive
@pytest.mark.parametrize("steps", [[1, 1, 1, 1, 1], [2, 3]])
def test_teacher_forcing_is_decoding_step_by_step(check, rng, steps):
    """However the tokens are shared out among calls, the logits are the same."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=2)
    given = (encoded(rng, 3, 4, 5, 2), rng.integers(1, 5, 3))
    tokens = rng.integers(0, 6, 3, 5)
    (whole,) = decoder.unroll("init_state", given, [tokens])
    parts = decoder.unroll("init_state", given, list(tokens.split(steps, dim=1)))
    joined = torch.cat([part.got for part in parts], dim=1)
    check.close(joined, whole.got, f"calls with {steps} tokens give other logits than one call")


@without_grad
def test_two_continuations_of_one_state(check, rng):
    """A state may be used twice, also that of one sentence: what one call does does not disturb the other."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=2)
    for batch in (2, 1):
        decode(decoder, rng, (batch, 4, 6, 5, 2), rng.integers(1, 5, batch), [3, 1, 2], branches=True)


@without_grad
def test_sentences_in_turn(check, rng):
    """One module for sentences of different lengths and batches: nothing stays behind in it."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=1)
    decode(decoder, rng, (2, 4, 6, 5, 1), rng.integers(1, 4, 2))
    decode(decoder, rng, (3, 2, 6, 5, 1))
    decode(decoder, rng, (2, 6, 6, 5, 1), rng.integers(1, 4, 2))


@without_grad
def test_weights_of_a_call(check, rng):
    """A list with one tensor (B, 1, T) for each step."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=2)
    decode(decoder, rng, (2, 4, 6, 5, 2), steps=[3])
    decoder.method("attention_weights")


@without_grad
def test_weights_of_the_last_call_only(check, rng):
    """The weights of earlier calls are gone."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=1)
    decode(decoder, rng, (3, 4, 6, 5, 1), steps=[3, 2])
    decoder.method("attention_weights")
    decode(decoder, rng, (2, 5, 6, 5, 1), rng.integers(1, 5, 2), [1])
    decoder.method("attention_weights")


def test_scores_with_a_common_level(check, rng):
    """What all scores have in common does not count, and float64 can tell them apart at any level."""
    decoder = check.module(vocab_size=5, embed_size=3, num_hiddens=4, num_layers=1)
    dial(rng, decoder, 2.0**26 if check.dtype == torch.float64 else 1.0, rest=1.0)
    outputs, hidden = encoded(rng, 2, 5, 4, 1)
    outputs[..., 0] = 1.0
    decoder.unroll("init_state", ((outputs, hidden), None), [rng.integers(0, 5, 2, 2)])


def test_scores_of_ten_thousand_and_more(check, rng):
    """Sharp to the point where exp alone would overflow."""
    decoder = dial(rng, check.module(vocab_size=5, embed_size=3, num_hiddens=4, num_layers=1), 2.0**15)
    outputs, hidden = encoded(rng, 2, 5, 4, 1)
    outputs[..., 0] = torch.where(rng.keep(2, 5), 1.0, -1.0)
    decoder.unroll("init_state", ((outputs, hidden), None), [rng.integers(0, 5, 2, 2)])


def test_dropout_does_nothing_in_evaluation(check, rng):
    """In evaluation mode a rate of one half changes nothing; it is the last argument."""
    decode(check.module(6, 4, 5, 2, 0.5), rng, (2, 4, 6, 5, 2))


@pytest.mark.derive("grad", "device")
def test_training_without_dropout(check, rng):
    """In training a rate of 0, the default, changes nothing."""
    decode(check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=2).train(), rng, (2, 4, 6, 5, 2))


@pytest.mark.derive("device", "contract")
def test_everything_dropped(check, rng):
    """With a rate of 1 and one layer the context is 0 in training; the weights are those before dropout."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=1, dropout=1.0).train()
    decode(decoder, rng, (2, 4, 6, 5, 1), rng.integers(1, 5, 2))
    decoder.method("attention_weights")


@pytest.mark.derive
def test_dropout_in_inference_mode(check, rng):
    """What nobody differentiates drops as well, as long as the module is in training."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=1, dropout=1.0).train()
    with inference_mode(check):
        decode(decoder, rng, (2, 4, 6, 5, 1))


@pytest.mark.derive("grad")
def test_nothing_passes_between_the_layers(check, rng):
    """With a rate of 1 no layer of the GRU hears anything of the one below it in training."""
    for layers in (2, 1, 3):
        decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=layers, dropout=1.0).train()
        decode(decoder, rng, (2, 4, 6, 5, layers), steps=[2])


@pytest.mark.mask
def test_sentences_of_different_lengths(check, rng):
    """What stands behind the end of a sentence is padding, and is never attended to."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=2)
    decode(decoder, rng, (3, 5, 6, 5, 2), torch.tensor([2, 5, 3]))


@pytest.mark.mask
def test_lengths_of_one_and_all(check, rng):
    """A single word, and sentences without padding."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=1)
    decode(decoder, rng, (2, 4, 6, 5, 1), torch.tensor([1, 4]))
    decode(decoder, rng, (2, 4, 6, 5, 1), torch.tensor([4, 4], dtype=torch.int32))


@pytest.mark.mask
def test_as_many_sentences_as_words(check, rng):
    """B == T == S: each sentence has a length of its own."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=1)
    decode(decoder, rng, (3, 3, 6, 5, 1), torch.tensor([2, 1, 3]))


@pytest.mark.mask
def test_empty_sentence(check, rng):
    """A length of 0: there is nothing to look at, and the context is 0."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=2)
    decode(decoder, rng, (3, 4, 6, 5, 2), torch.tensor([2, 0, 4]))
    decode(decoder, rng, (2, 1, 6, 5, 2), torch.tensor([0, 1]), steps=[2])
    decode(decoder, rng, (2, 3, 6, 5, 2), torch.tensor([0, 0]), steps=[1])


@pytest.mark.mask
@without_grad
def test_weights_of_padding_are_zero(check, rng):
    """The weights of a step are 0 at padding, all of them for an empty sentence."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=1)
    decode(decoder, rng, (3, 4, 6, 5, 1), torch.tensor([3, 0, 1]), [2])
    decoder.method("attention_weights")


@pytest.mark.mask
@pytest.mark.derive("device")
def test_padding_leaves_no_trace(check, rng):
    """Changing what stands in the padding must not change one bit of the logits."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=2)
    lens = torch.tensor([2, 4, 0])
    outputs, hidden = encoded(rng, 3, 5, 5, 2)
    tokens = [rng.integers(0, 6, 3, 3)]
    (before,) = decoder.unroll("init_state", ((outputs, hidden), lens), tokens)
    padding = (torch.arange(5) >= lens[:, None])[..., None]
    other = torch.where(padding, rng.normal(3, 5, 5, scale=30.0), outputs)
    (after,) = decoder.unroll("init_state", ((other, hidden), lens), tokens)
    check.same(before, after, "the logits moved when only the padding was changed")


@pytest.mark.mask
def test_common_level_under_padding(check, rng):
    """The scores of the words share a level of their own; float64 can tell them apart at any level."""
    decoder = check.module(vocab_size=5, embed_size=3, num_hiddens=4, num_layers=1)
    dial(rng, decoder, 2.0**26 if check.dtype == torch.float64 else 1.0, rest=1.0)
    outputs, hidden = encoded(rng, 2, 5, 4, 1)
    outputs[..., 0] = 1.0
    decoder.unroll("init_state", ((outputs, hidden), torch.tensor([4, 2])), [rng.integers(0, 5, 2, 2)])


def outshone(rng, decoder, level, lens):
    """Decode where each word scores -level, and padding +level."""
    outputs, hidden = encoded(rng, len(lens), 5, 4, 1)
    outputs[..., 0] = torch.where(torch.arange(5) < lens[:, None], -1.0, 1.0)
    tokens = [rng.integers(0, 5, len(lens), 2)]
    return dial(rng, decoder, level).unroll("init_state", ((outputs, hidden), lens), tokens)


@pytest.mark.mask
def test_padding_scores_best(check, rng):
    """Padding with scores of 32768, words with -32768: whoever merely lowers the padding lets it through."""
    decoder = check.module(vocab_size=5, embed_size=3, num_hiddens=4, num_layers=1)
    outshone(rng, decoder, 2.0**15, torch.tensor([3, 1, 0]))


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize("level", [2.0**24, 2.0**118])
def test_no_finite_score_is_too_low(check, rng, level):
    """A finite stand-in for minus infinity is only as good as the lowest score it meets."""
    decoder = check.module(vocab_size=5, embed_size=3, num_hiddens=4, num_layers=1)
    outshone(rng, decoder, level, torch.tensor([3, 1]))


@pytest.mark.derive("grad")
def test_sizes_that_people_run(check, rng):
    """Three hundred tokens there are and as many keys, forty steps: nothing changes with size."""
    decoder = check.module(vocab_size=300, embed_size=3, num_hiddens=4, num_layers=1)
    dial(rng, decoder, 2.0, rest=2.0)
    lens = rng.integers(1, 301, 10)
    lens[0] = 300  # by luck of the seed all may be short
    decode(decoder, rng, (10, 300, 300, 4, 1), steps=[2], lens=lens)
    decode(decoder, rng, (2, 3, 300, 4, 1), steps=[40])


@pytest.mark.derive("grad", "device", "contract")
def test_weights_are_loaded_between_calls(check, rng):
    """A step of an optimiser or a checkpoint changes the weights in place: the next call uses the new ones."""
    decoder = check.module(vocab_size=7, embed_size=3, num_hiddens=4, num_layers=1)
    sizes = (2, 4, 7, 4, 1)
    decode(decoder, rng, sizes, steps=[2])
    decoder.set(**{f"attention__{name}__weight": rng.normal(4, 4) for name in ("W_q", "W_k")})
    decoder.set(dense__weight=rng.normal(7, 4))
    decode(decoder, rng, sizes, steps=[2])


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_every_digit_of_float64(check, rng):
    """In float64 all digits count, with gradients and without."""
    decoder = check.module(vocab_size=7, embed_size=3, num_hiddens=4, num_layers=1)
    result = decode(decoder, rng, (2, 4, 7, 4, 1), steps=[3], lens=torch.tensor([3, 2]))
    check.that(keeps_digits(result), "numbers of float64 came back with the digits of a shorter type")


@pytest.mark.contract
def test_tokens_and_state_serve_again(check, rng):
    """The same tokens behind the same state give the same logits."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=2)
    given = (encoded(rng, 2, 4, 5, 2), torch.tensor([2, 4]))
    tokens = rng.integers(0, 6, 2, 3)
    first, second = decoder.unroll("init_state", given, [tokens, tokens], branches=True)
    check.same(second, first, "the same tokens behind the same state give other logits the second time")


@pytest.mark.contract
def test_a_state_outlives_other_sentences(check, rng):
    """Another sentence begins before the first one goes on: a call goes by the state that it is given."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=1)
    sentence, tokens = encoded(rng, 2, 4, 5, 1), rng.integers(0, 6, 2, 2)
    (expected,) = decoder.unroll("init_state", (sentence, None), [tokens])
    state = decoder.do("init_state", sentence, None)
    decode(decoder, rng, (2, 4, 6, 5, 1), torch.tensor([1, 2]))
    late = logits_of(check, decoder.run(tokens, state), (2, 2, 6))
    check.close(late, expected.got, "the logits moved when another sentence began in between")


@pytest.mark.contract
def test_weights_are_dropped_one_by_one(check, rng):
    """Sentences that are alike lose different weights in training, and others in each step and in each call."""
    decoder = check.module(vocab_size=6, embed_size=4, num_hiddens=5, num_layers=1, dropout=0.5).train()
    # Steps are alike: equal weights, and the new hidden state is tanh of what the GRU reads.
    none, shut = torch.zeros(15, 5), torch.tensor([0.0] * 5 + [-60.0] * 5 + [0.0] * 5)
    decoder.set(attention__w_v__weight=none[:1], rnn__weight_hh_l0=none, rnn__bias_hh_l0=none[:, 0])
    decoder.set(rnn__bias_ih_l0=shut)
    outputs, hidden = encoded(rng, 1, 12, 5, 1)
    tokens = torch.zeros(8, 4, dtype=torch.int64)
    state = decoder.do("init_state", (3 * outputs.repeat(8, 1, 1), hidden.repeat(1, 8, 1)), None)
    first = decoder.run(tokens, state)
    check.roll()
    second = decoder.run(tokens, state)
    calls = torch.stack([logits_of(check, result, (8, 4, 6)) for result in (first, second)])
    # Where nothing at all is dropped, other cases say so.
    calls_alike, rows_alike, steps_alike = ((calls - calls.narrow(axis, 0, 1)).abs().max() < 1e-3 for axis in range(3))
    check.that(calls_alike or not rows_alike, "all batch rows lose the same attention weights")
    check.that(rows_alike or not calls_alike, "two calls in training drop the same attention weights")
    check.that(rows_alike or not steps_alike, "all steps of a call lose the same attention weights")


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_faint_keys_with_loud_values(check, rng):
    """A weight of 1e-100 is a weight: its value may be as large."""
    decoder = dial(rng, check.module(vocab_size=6, embed_size=4, num_hiddens=4, num_layers=1), 115.0)
    outputs, hidden = encoded(rng, 2, 5, 4, 1)
    outputs[..., 0] = 1.0
    outputs[:, 1, 0], outputs[:, 1, 1:] = -1.0, 1e100 * outputs[:, 1, 1:]
    decoder.unroll("init_state", ((outputs, hidden), None), [rng.integers(0, 6, 2, 2)])


@pytest.mark.precise
@pytest.mark.derive
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    decode(check.module(1200, 70, 80, 4, 0.5), rng, (9, 3, 1200, 80, 4), rng.integers(1, 3, 9), steps=[2])
    decode(check.module(7, 1, 1, 1), rng, (2, 3, 7, 1, 1), torch.tensor([2, 1]), steps=[2])
    decoder = check.module(7, 3, 4, 1)
    decode(decoder, rng, (1, 2, 7, 4, 1), steps=[300])
    decode(decoder, rng, (1, 2, 7, 4, 1), steps=[4])
    decoder.method("attention_weights")
    decode(decoder, rng, (2, 3, 7, 4, 1), torch.tensor([1, 1]), steps=[2])
    decode(decoder, rng, (300, 2, 7, 4, 1), rng.integers(0, 3, 300), steps=[1])
    outputs, hidden = encoded(rng, 2, 3, 4, 1)
    outputs[:, 1:] *= -1e3 * outputs[:, :1].sign() * outputs[:, 1:].sign()
    for mode in ("train", "eval", "train"):
        getattr(decoder, mode)()
        decoder.unroll("init_state", ((3e4 * outputs, hidden), torch.tensor([1, 1])), [rng.integers(0, 7, 2, 2)])
