"""Cases of translate at the sizes that people train, and in the ways in which they translate."""

import pytest
from cases import PAD, SOURCE, TARGET, enlivened, lively, sources, targets

from grader.kit.defaults import of_everything
from grader.kit.tokens import translated_in_every_way, with_ids


def loud(check, rng, sizes, *more, by=40.0):
    """Build a model of these sizes whose tokens outweigh the table of positions, which has the digits of float32."""
    model = check.module(*sizes, *more)
    scale = by / sizes[2] ** 0.5
    model.set(transformer__encoder__embedding__weight=rng.normal(sizes[0], sizes[2], scale=scale))
    return model.set(transformer__decoder__embedding__weight=rng.normal(sizes[1], sizes[2], scale=scale))


@pytest.mark.precise
@pytest.mark.derive
def test_sizes_that_people_train(check, rng):
    """A wide and deep model with a real vocabulary; 300 tokens. Far away the angles of float32 lose three digits."""
    deep = loud(check, rng, (1200, 1300, 72, 12, 80, 4), 50, 1)
    src = with_ids(rng.integers(2, 1200, 9, 6), 257, 513, 1025)
    tgt = with_ids(rng.integers(2, 1300, 9, 7), 257, 513, 1025)
    padded = tgt.clone()
    padded[::2, 4:] = 1
    small = loud(check, rng, (1200, 1300, 4, 2, 3, 1), 301, by=400.0)
    source, target = (with_ids(rng.integers(1, 1200, 1, length), 128, 256, 512, 1024) for length in (300, 301))
    deep(src, tgt[:, 1:])
    deep.method("loss", src, padded)
    small(source, target[:, 1:])
    small.method("loss", source, target)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_sizes_that_agree(check, rng):
    """Lengths that agree with one another, with the batch and with the heads; lengths and widths of one."""
    alike = loud(check, rng, (SOURCE, TARGET, 4, 2, 3, 1), 4)
    with of_everything(check):
        for batch, m, n in ((4, 4, 4), (1, 4, 4), (4, 1, 4), (4, 4, 2), (1, 1, 2), (2, 4, 3)):
            pair = sources(rng, [m] * batch), targets(rng, [n] * batch)
            alike(*pair)
            alike.method("loss", *pair)
    tiny = loud(check, rng, (SOURCE, TARGET, 1, 1, 1, 1), 1)
    tiny.train()(sources(rng, [1, 1]), targets(rng, [1, 1]))
    tiny.eval()(sources(rng, [1, 1]), targets(rng, [1, 1]))


@pytest.mark.precise
@pytest.mark.derive
def test_translations_at_sizes_that_people_train(check, rng):
    """A long source and a long translation; many sentences, a real vocabulary, layers on layers."""
    long = enlivened(check.module(SOURCE, TARGET, 16, 2, 8, 1, 300), rng, 16, 1, PAD)
    long.method("translate", sources(rng, [300]), 1, TARGET, 70)
    ended = sources(rng, [5])
    written = long.method("translate", ended, 3, TARGET, 4).got
    long.method("translate", ended, 3, int(written[0, 2]), 300)
    many = enlivened(check.module(SOURCE, TARGET, 16, 8, 8, 5), rng, 16, 5, PAD)
    many.method("translate", sources(rng, [4] * 9), 1, TARGET, 4)
    for batch, length in ((4, 4), (1, 1), (4, 1), (8, 2)):
        many.method("translate", sources(rng, [length] * batch), 1, TARGET, 4)
    wide = loud(check, rng, (1200, 1300, 72, 12, 80, 1), 50, 1)
    wide.method("translate", with_ids(rng.integers(2, 1200, 3, 6), 257, 513, 1025), 1100, 1300, 3)


@pytest.mark.precise
@pytest.mark.derive
def test_slices_and_inference_mode(check, rng):
    """Sentences are slices of longer ones; tensors are filled anew; inference mode, training, and all once again."""
    model = lively(check, rng)
    src, tgt, whole = sources(rng, [4, 2, 3]), targets(rng, [5, 3, 4]), targets(rng, [4, 4, 4])
    translated_in_every_way(check, model, src, tgt, whole, 1, TARGET)
