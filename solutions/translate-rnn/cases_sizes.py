"""Cases of translate-rnn at the sizes that people train, and in the ways in which they translate."""

import pytest
from cases import SOURCE, TARGET, lively, sources, targets

from grader.kit.defaults import of_everything
from grader.kit.tokens import translated_in_every_way, with_ids


def loud(check, rng, sizes, *more):
    """Build a model of these sizes whose tokens change its states."""
    model = check.module(*sizes, *more)
    scale = 8.0 / sizes[2] ** 0.5
    model.set(encoder__embedding__weight=rng.normal(sizes[0], sizes[2], scale=scale))
    return model.set(decoder__embedding__weight=rng.normal(sizes[1], sizes[2], scale=scale))


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_sizes_that_people_train(check, rng):
    """A wide and deep model with a real vocabulary; 258 tokens; lengths that agree, lengths of one."""
    deep = loud(check, rng, (1200, 1300, 72, 72, 4), 1)
    src = with_ids(rng.integers(2, 1200, 9, 6), 257, 513, 1025)
    tgt = with_ids(rng.integers(2, 1300, 9, 7), 257, 513, 1025)
    src[1::3, 4:] = 1
    padded = tgt.clone()
    padded[::2, 4:] = 1
    small = loud(check, rng, (1200, 1300, 4, 3, 1))
    source, target = (with_ids(rng.integers(1, 1200, 1, length), 128, 256, 512, 1024) for length in (258, 259))
    alike = loud(check, rng, (SOURCE, TARGET, 4, 4, 1))
    with of_everything(check):
        deep(src, tgt[:, 1:])
        deep.method("loss", src, padded)
        small(source, target[:, 1:])
        small.method("loss", source, target)
        for batch, m, n in ((4, 4, 4), (1, 4, 4), (4, 1, 4), (4, 4, 2), (1, 1, 2)):
            pair = sources(rng, [m] * batch), targets(rng, [n] * batch)
            alike(*pair)
            alike.method("loss", *pair)
    tiny = loud(check, rng, (SOURCE, TARGET, 1, 1, 1))
    tiny.train()(sources(rng, [1, 1]), targets(rng, [1, 1]))
    tiny.eval()(sources(rng, [1, 1]), targets(rng, [1, 1]))


@pytest.mark.precise
@pytest.mark.derive
def test_translations_at_sizes_that_people_train(check, rng):
    """A long source and a long translation; many sentences, a real vocabulary, layers on layers."""
    long = lively(check, rng)
    long.method("translate", sources(rng, [258]), 1, TARGET, 150)
    ended = sources(rng, [5])
    written = long.method("translate", ended, 3, TARGET, 4).got
    long.method("translate", ended, 3, int(written[0, 2]), 300)
    long.method("translate", sources(rng, [4] * 9), 1, TARGET, 4)
    for batch, length in ((4, 4), (1, 1), (4, 1)):
        long.method("translate", sources(rng, [length] * batch), 1, TARGET, 4)
    wide = loud(check, rng, (1200, 1300, 72, 72, 4), 1)
    src = with_ids(rng.integers(2, 1200, 9, 6), 257, 513, 1025)
    src[1::3, 4:] = 1
    wide.method("translate", src, 1100, 1300, 3)


@pytest.mark.precise
@pytest.mark.derive
def test_slices_and_inference_mode(check, rng):
    """Sentences are slices of longer ones; tensors are filled anew; inference mode, training, and all once again."""
    model = lively(check, rng)
    src, tgt, whole = sources(rng, [4, 2, 3]), targets(rng, [5, 3, 4]), targets(rng, [4, 4, 4])
    translated_in_every_way(check, model, src, tgt, whole, 1, TARGET)
