"""Hidden cases of translate."""

import pytest
import torch

from grader.kit import corpus
from grader.kit.tokens import outweigh_positions

SOURCE, TARGET, PAD = 11, 13, 0
WIDTH, OUTPUT = 32, "transformer__decoder__dense__weight"
SIZES = 32, 4, 64, 1
CORPUS = corpus.read("translate")
WELL_KNOWN = ("go .", "i lost .", "he's calm .", "i'm home .")
RATE = 0.015
REACHED_LOSS, REACHED_BLEU = 0.01256, 1.0  # what the reference reaches; a test looks whether it still does

# A norm magnifies rounding where its input varies little, so the `dtype` variants are those of wide models.
without_dtype = pytest.mark.derive("grad", "device", "contract")
without_both = pytest.mark.derive("device", "contract")


def build(check, rng, n_layers=1):
    """Build a model; in float64 the tokens outweigh the table of positions, which has the digits of float32."""
    model = check.module(SOURCE, TARGET, WIDTH, 4, 24, n_layers)
    return outweigh_positions(check, rng, model, (SOURCE, TARGET), WIDTH, "transformer__")


def lively(check, rng):
    """Build a model that writes different things for different sources, and never padding."""
    return enlivened(build(check, rng), rng, WIDTH, 1, PAD)


def other_padding(check):
    """Build a model whose padding is 4; all settings by position."""
    return check.module(SOURCE, TARGET, 16, 2, 8, 2, 50, 4)


def enlivened(model, rng, width, n_layers, pad):
    """Set the weights of a model so that what it writes depends on its source, and is never padding."""
    decoder = "transformer__decoder__"
    model.set(**{f"{decoder}dense__bias": torch.eye(TARGET)[pad] * -30.0})
    for layer in range(n_layers):
        name = f"{decoder}layers__{layer}__"
        model.set(**{f"{name}norm3__bias": torch.zeros(width)})
        model.set(**{f"{name}cross_attn__W_o__weight": rng.normal(width, width, scale=0.7)})
    model.set(**{f"{decoder}embedding__weight": rng.normal(TARGET, width, scale=2.0)})
    return model.set(transformer__encoder__embedding__weight=rng.normal(SOURCE, width, scale=2.0))


def sources(rng, lengths):
    """Source tokens of these lengths, padding behind them."""
    longest = max(lengths)
    src = rng.integers(1, SOURCE, len(lengths), longest)
    return src.masked_fill(torch.arange(longest) >= torch.tensor(lengths)[:, None], PAD)


def targets(rng, lengths):
    """Target tokens of these lengths, padding behind them."""
    longest = max(lengths)
    tgt = rng.integers(1, TARGET, len(lengths), longest)
    return tgt.masked_fill(torch.arange(longest) >= torch.tensor(lengths)[:, None], PAD)


def end_that_parts(written):
    """Return the token that leaves the most places to pad, were it the end of these rows."""
    length = written.size(1)

    def padded(token):
        ends = [row.index(token) + 1 if token in row else length for row in written.tolist()]
        return sum(max(ends) - end for end in ends)

    return max(range(TARGET), key=padded)


@pytest.mark.precise
@without_both
def test_by_hand(check):
    """The example of the brief: a model that gives its four tokens the same probabilities everywhere."""
    model = check.module(4, 4, 4, 1, 4, 1)
    probabilities = torch.tensor([0.125, 0.125, 0.5, 0.25], dtype=torch.float64)
    model.set(
        transformer__decoder__dense__weight=torch.zeros(4, 4), transformer__decoder__dense__bias=probabilities.log()
    )
    src, tgt = torch.tensor([[2, 3], [1, 0]]), torch.tensor([[1, 2, 3], [1, 3, 0]])
    model.method("loss", src, tgt)
    model.method("translate", src, bos=1, eos=2, max_len=3)
    model.method("translate", src, bos=1, eos=3, max_len=3)


def test_one_token_each(check, rng):
    """One source token, one target token."""
    model = build(check, rng)
    model(sources(rng, [1, 1]), targets(rng, [1, 1]))


def test_a_batch_of_pairs(check, rng):
    """Logits behind every target token; sources and targets of different lengths."""
    model = build(check, rng)
    model(sources(rng, [6, 6, 6]), targets(rng, [4, 4, 4]))


@without_dtype
def test_two_layers(check, rng):
    """Every layer has weights of its own."""
    model = build(check, rng, n_layers=2)
    model(sources(rng, [5, 5]), targets(rng, [4, 4]))


@without_dtype
def test_two_pairs_of_equal_words_in_another_order(check, rng):
    """The order of the words counts, on both sides."""
    model = build(check, rng)
    model(torch.tensor([[3, 7, 5], [5, 3, 7]]), torch.tensor([[1, 4, 9], [1, 9, 4]]))


def test_loss_of_a_batch(check, rng):
    """The first token is given, all others are to be predicted from the ones before them."""
    model = build(check, rng)
    model.method("loss", sources(rng, [4, 4, 4]), targets(rng, [6, 6, 6]))


def test_loss_of_two_tokens(check, rng):
    """The shortest target: one token given, one to predict."""
    model = build(check, rng)
    model.method("loss", sources(rng, [2]), targets(rng, [2]))


@without_both
def test_loss_of_what_seems_impossible(check, rng):
    """Logits that lie thousands apart: the loss is large, and finite."""
    model = build(check, rng)
    model.set(**{OUTPUT: rng.normal(TARGET, WIDTH, scale=2000.0)})
    model.method("loss", sources(rng, [4, 4]), targets(rng, [5, 5]))


@pytest.mark.derive("device")
def test_loss_in_training(check, rng):
    """There is nothing random in training, and no token sees the future."""
    model = build(check, rng).train()
    model.method("loss", sources(rng, [4, 2]), targets(rng, [5, 3]))


@pytest.mark.precise
@without_both
def test_translation(check, rng):
    """Token by token, each the most probable one; nothing ends it but max_len."""
    model = lively(check, rng)
    model.method("translate", sources(rng, [4, 4, 4]), 1, TARGET, 7)
    model.method("translate", sources(rng, [1]), 1, TARGET, 24)


@pytest.mark.precise
@without_both
def test_translation_of_one_token(check, rng):
    """max_len counts the tokens that are written; what it begins with is not among them."""
    model = lively(check, rng)
    model.method("translate", sources(rng, [3, 3]), 5, TARGET, 1)


@pytest.mark.precise
@pytest.mark.derive("dtype", "device", "contract")
def test_padding_is_a_token_of_the_vocabulary(check, rng):
    """The most probable token is written, whatever stands for padding elsewhere, and ends nothing."""
    model = lively(check, rng).set(transformer__decoder__dense__bias=torch.eye(TARGET)[PAD] * 30.0)
    model.method("translate", sources(rng, [3, 3]), 5, TARGET, 3)


@pytest.mark.precise
@without_both
@pytest.mark.parametrize("begin", [1, 2, 3])
def test_translations_that_end(check, rng, begin):
    """Rows end at different steps: what has ended is padded, and the others go on."""
    model = lively(check, rng)
    src = sources(rng, [4, 4, 4, 4, 4, 4])
    written = model.method("translate", src, begin, TARGET, 6).got
    model.method("translate", src, begin, end_that_parts(written), 6)
    model.method("translate", src, begin, begin, 6)  # what it begins with may end it, too, once it is written


@pytest.mark.precise
@without_both
def test_all_translations_have_ended(check, rng):
    """One row alone: writing stops with its end, however large max_len is."""
    model = lively(check, rng)
    src = sources(rng, [5])
    written = model.method("translate", src, 3, TARGET, 8).got
    model.method("translate", src, 3, int(written[0, 2]), 8)


@pytest.mark.precise
@pytest.mark.derive
def test_each_translation_is_its_own(check, rng):
    """What a row becomes does not depend on the rows beside it."""
    model = lively(check, rng)
    src = sources(rng, [5, 5, 5])
    together = model.method("translate", src, 1, TARGET, 6).got
    for row in range(3):
        alone = model.method("translate", src[row : row + 1], 1, TARGET, 6).got
        check.that(torch.equal(alone[0], together[row]), "a sentence is translated otherwise alone than in a batch")


@pytest.mark.mask
def test_padding_of_the_source(check, rng):
    """Sources of different lengths: nobody reads the padding."""
    model = build(check, rng)
    model(sources(rng, [5, 2, 4]), targets(rng, [4, 4, 4]))


@pytest.mark.mask
def test_loss_with_padding(check, rng):
    """Targets of different lengths: every real token counts alike, padding does not."""
    model = build(check, rng)
    model.method("loss", sources(rng, [5, 2, 4]), targets(rng, [6, 2, 3]))


@pytest.mark.mask
@without_both
def test_loss_beside_an_empty_target(check, rng):
    """A target of nothing but padding has no part in the loss of the batch."""
    model = build(check, rng)
    model.method("loss", sources(rng, [4, 2]), targets(rng, [5, 0]))


@pytest.mark.mask
@pytest.mark.precise
@without_both
def test_translation_with_padding(check, rng):
    """Sources of different lengths are translated together."""
    model = lively(check, rng)
    model.method("translate", sources(rng, [5, 1, 3]), 1, TARGET, 6)


@pytest.mark.precise
@pytest.mark.mask
@pytest.mark.derive("grad", "device", "contract")
def test_another_padding_token(check, rng):
    """pad_id is the last setting, of source and target; 0 is a token like any other then."""
    model = other_padding(check)
    src = torch.tensor([[3, 0, 7, 1], [0, 10, 4, 4], [9, 4, 4, 4]])
    tgt = torch.tensor([[1, 0, 7, 2], [3, 2, 4, 4], [0, 5, 2, 4]])
    model(src, torch.tensor([[1, 0, 7], [3, 2, 5], [0, 5, 2]]))
    model.method("loss", src, tgt)
    src = rng.integers(5, SOURCE, 8, 4)
    src[::3, 2:] = 4
    for _ in range(20):  # until one model does not begin all rows alike: then they end at different steps
        model = enlivened(other_padding(check), rng, 16, 2, 4)
        written = model.method("translate", src, 1, TARGET, 5).got
        if bool((written[:, 0] != written[0, 0]).any()):
            break
    model.method("translate", src, 1, end_that_parts(written), 5)


@pytest.mark.precise
@pytest.mark.mask
@pytest.mark.derive
def test_padding_leaves_no_trace(check, rng):
    """A pair alone, and the same pair with padding behind both sentences: the same loss, the same translation."""
    model = lively(check, rng)
    src, tgt = sources(rng, [3]), targets(rng, [4])
    wide, long = torch.cat([src, torch.zeros(1, 3).long()], 1), torch.cat([tgt, torch.zeros(1, 2).long()], 1)
    loss, other = model.method("loss", src, tgt).got, model.method("loss", wide, long).got
    check.close(other, loss, "padding changes the loss")
    short, padded = (model.method("translate", given, 1, TARGET, 5).got for given in (src, wide))
    check.that(torch.equal(short, padded), "padding changes the translation")


@pytest.mark.mask
@pytest.mark.derive
def test_later_tokens_leave_no_trace(check, rng):
    """Later target tokens are replaced: not one bit of the earlier logits may change, in either mode."""
    model = build(check, rng)
    src, tgt = sources(rng, [4, 4]), targets(rng, [6, 6])
    other = torch.cat([tgt[:, :3], (tgt[:, 3:] + 5) % TARGET], dim=1)
    for mode in (model.eval, model.train):
        before, after = mode()(src, tgt).got, mode().run(src, other).got
        check.same(after[:, :3], before[:, :3], "logits depend on a later target token")


@pytest.mark.precise
@pytest.mark.contract
def test_translating_changes_nothing(check, rng):
    """The same sentences a second time, with other ones in between: the same translation, the same loss."""
    model = lively(check, rng)
    src, tgt = sources(rng, [4, 2]), targets(rng, [5, 3])
    loss, first = model.method("loss", src, tgt), model.method("translate", src, 1, TARGET, 5)
    model.method("translate", sources(rng, [3, 3, 1]), 1, TARGET, 4)
    again, second = model.method("loss", src, tgt), model.method("translate", src, 1, TARGET, 5)
    check.same(second, first, "the same sentences are translated otherwise the second time")
    check.same(again, loss, "the same pairs have another loss the second time")


@pytest.mark.contract
def test_width_not_divisible_by_heads(check):
    """Impossible sizes are refused when the model is built."""
    with check.raises(ValueError):
        check.module(SOURCE, TARGET, 10, 3, 8, 1)


@pytest.mark.contract
@pytest.mark.parametrize(("m", "n"), [(6, 3), (3, 6)])
def test_longer_than_the_table(check, rng, m, n):
    """A source or a target of more than max_len tokens, the seventh setting."""
    model = check.module(SOURCE, TARGET, 8, 2, 8, 1, 5)
    with check.raises(ValueError):
        model(sources(rng, [m, m]), targets(rng, [n, n]))


@pytest.mark.cost
def test_a_translation_reads_and_writes_each_token_once(check, rng):
    """The source is read once; a step works on the token that was written last, not on all of them."""
    d, hidden = WIDTH, 48
    model = check.module(SOURCE, TARGET, d, 4, hidden, 1)
    for batch, m, written in ((2, 5, 24), (2, 5, 48), (1, 5, 48), (2, 40, 24)):
        cost = model.do("translate", sources(rng, [m] * batch), 1, TARGET, written).cost
        read = m * (4 * d**2 + 2 * m * d + 2 * d * hidden)
        step = 4 * d**2 + 2 * written * d + 2 * d**2 + 2 * m * d**2 + 2 * m * d + 2 * d * hidden + d * TARGET
        check.at_most(cost.madds, 2 * batch * (read + written * step), "a translation does its work more than once")


@pytest.mark.cost
def test_a_long_translation_of_one_token(check, rng):
    """One source token and many written ones: each step works on the newest."""
    d, hidden, m, written = 16, 32, 1, 32
    model = check.module(SOURCE, TARGET, d, 4, hidden, 1)
    cost = model.do("translate", sources(rng, [m, m]), 1, TARGET, written).cost
    read = m * (4 * d**2 + 2 * m * d + 2 * d * hidden)
    step = 4 * d**2 + 2 * written * d + 2 * d**2 + 2 * m * d**2 + 2 * m * d + 2 * d * hidden + d * TARGET
    check.at_most(cost.madds, 2 * 2 * (read + written * step), "a translation does its work more than once")


@pytest.mark.grad
@pytest.mark.trains
def test_learns_to_translate(check):
    """Trained on the corpus with the loss of your own, what it has learned is measured with the reference."""
    learned = corpus.trained(check, CORPUS, SIZES, RATE)
    loss = learned.method("loss", CORPUS.source, CORPUS.target).want.item()
    written = learned.method("translate", CORPUS.source, corpus.BOS, corpus.EOS, corpus.LONGEST).want
    bleu = CORPUS.bleu(list(range(len(written))), written)
    four = CORPUS.bleu([CORPUS.row(sentence) for sentence in WELL_KNOWN], written)
    check.that(loss <= 1.5 * REACHED_LOSS, f"trained, it has a loss of {loss:.3f}, the reference {REACHED_LOSS:.3f}")
    check.that(bleu >= REACHED_BLEU - 0.02, f"trained, it has a BLEU of {bleu:.3f}, the reference {REACHED_BLEU:.3f}")
    check.that(
        four == 1.0, f"trained, it has a BLEU of {four:.3f} on the four well-known sentences, the reference 1.000"
    )
