"""Hidden cases of beam-search."""

import math

import pytest
import torch

# Only a large vocabulary tells what may be copied to the host, and only clear scores are the same in every dtype.
plain = pytest.mark.derive


NEVER = -40.0


ALWAYS = 80.0


RULED_OUT = -30.0


def log_probs(table, bos, written):
    """Log-probabilities of what follows, in float64."""
    logits = table[0, bos].clone()
    for position, token in enumerate(written, 1):
        logits += table[position, token]
    return torch.log_softmax(logits, dim=0).tolist()


def searched(table, bos, eos, beam, max_len):
    """Score of the best hypothesis, the smallest gap that decided, and the best score that ever ended."""
    kept, gap, ended = [([], 0.0)], math.inf, -math.inf
    for _ in range(max_len):
        found = [h for h in kept if h[0][-1:] == [eos]]
        for written, score in (h for h in kept if h[0][-1:] != [eos]):
            found += [([*written, k], score + p) for k, p in enumerate(log_probs(table, bos, written))]
        found.sort(key=lambda h: -h[1])
        gap = min([gap, *(found[beam - 1][1] - h[1] for h in found[beam : beam + 1])])
        kept = found[:beam]
        ended = max([ended, *(score for written, score in kept if written[-1] == eos)])
    gap = min([gap, *(kept[0][1] - h[1] for h in kept[1:2])])
    return kept[0][1], gap, ended


def clear(draw, bos, eos, beam, max_len, margin=1e-3, lowest=0.0):
    """Draw tables until no decision is close, and no hypothesis that ended and fell out of the beam is the best."""
    for _ in range(500):
        table = draw()
        score, gap, ended = searched(table, bos, eos, beam, max_len)
        if gap > margin and ended <= score <= -lowest:
            return table
    raise AssertionError("no table without a close decision")


def normal(rng, vocab, positions, eos, boost=0.0):
    """Draw a table; `boost` makes eos more probable, or less."""
    table = rng.normal(positions, vocab, vocab)
    table[0, :, eos] += boost
    return table


def told(rng, bos, eos, vocab, first, second=None, third=None):
    """Make a table from probabilities of named tokens: `second` and `third` by the token before. "end" is eos.

    A token of `third` follows one token of `second` only. What is not named is practically ruled out. The tokens get
    random ids.
    """
    ids = [i for i in rng.permutation(vocab).tolist() if i not in (bos, eos)]
    names = {"end": eos} | dict(zip("abcdefgh", ids, strict=False))

    def row(probabilities):
        logits = torch.full((vocab,), RULED_OUT, dtype=torch.float64)
        for name, p in probabilities.items():
            logits[names[name]] = round(math.log(p) * 4096) / 4096  # sums of these are exact
        return logits

    table = torch.zeros(6, vocab, vocab, dtype=torch.float64)
    table[0, bos] = row(first)
    for name, probabilities in (second or {}).items():
        table[1, names[name]] = row(probabilities) - table[0, bos]
    for name, probabilities in (third or {}).items():
        before = next(row(p) for p in second.values() if p.get(name, 0) > 0.01)
        table[2, names[name]] = row(probabilities) - before
    return table


@plain
def test_by_hand(check):
    """The example of the brief: the best first token is not that of the best pair."""
    first, after_1, after_2 = (
        torch.tensor(p, dtype=torch.float64).log().clamp(min=-100.0)
        for p in ([0.0, 0.6, 0.4, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.1, 0.0, 0.9])
    )
    table = torch.zeros(4, 4, 4, dtype=torch.float64)
    table[0, 0], table[1, 1], table[1, 2] = first, after_1 - first, after_2 - first
    check(check.step(table), bos=0, eos=3, beam=1, max_len=2)
    check(check.step(table), bos=0, eos=3, beam=2, max_len=2)
    check(check.step(table), bos=0, eos=3, beam=2, max_len=1)


@plain
def test_one_token(check, rng):
    """The shortest sequence: the most probable token and its log-probability."""
    for beam in (1, 3):
        table = clear(lambda: normal(rng, 5, 3, 2), 1, 2, beam, 1)
        check(check.step(table), 1, 2, beam, 1)


@plain
@pytest.mark.parametrize("max_len", [2, 5])
def test_a_beam_of_one(check, rng, max_len):
    """With one hypothesis it is greedy decoding."""
    for _ in range(2):
        table = clear(lambda: normal(rng, 6, max_len + 1, 4, -1.0), 0, 4, 1, max_len)
        check(check.step(table), bos=0, eos=4, beam=1, max_len=max_len)


@plain
def test_the_best_first_token_may_lead_nowhere(check, rng):
    """The second-best beginning is the better one once the next token is known."""
    even = dict.fromkeys("cdef", 0.25)
    table = told(rng, 0, 1, 10, {"a": 0.55, "b": 0.44}, {"a": even, "b": {"g": 0.96, "h": 0.03}})
    check(check.step(table), bos=0, eos=1, beam=2, max_len=2)
    check(check.step(table), bos=0, eos=1, beam=1, max_len=2)


@plain
@pytest.mark.parametrize(("beam", "max_len", "boost"), [(2, 5, 0.0), (3, 5, -1.0), (2, 7, -2.0), (4, 4, 0.5)])
def test_random_models(check, rng, beam, max_len, boost):
    """Models whose every token depends on all before; hypotheses end at different lengths, or not at all."""
    for _ in range(4):
        table = clear(lambda: normal(rng, 5, max_len + 2, 2, boost), 3, 2, beam, max_len)
        check(check.step(table), bos=3, eos=2, beam=beam, max_len=max_len)


@plain
def test_two_hypotheses_of_one_beginning(check, rng):
    """All that is kept may descend from one hypothesis; the second-best of it wins in the end."""
    even = dict.fromkeys("abfgh", 0.2)
    second = {"a": {"c": 0.5, "d": 0.45, "e": 0.05}, "b": even}
    table = told(rng, 1, 0, 10, {"a": 0.9, "b": 0.1}, second, {"c": even, "d": {"e": 0.97, "f": 0.03}})
    check(check.step(table), bos=1, eos=0, beam=2, max_len=3)


@plain
def test_a_finished_hypothesis_waits(check, rng):
    """It ended early with a score that the others have only until they go on: it must not get lost."""
    even = dict.fromkeys("bcde", 0.25)
    table = told(rng, 2, 4, 8, {"a": 0.55, "end": 0.4, "b": 0.05}, {"a": even, "b": even})
    check(check.step(table), bos=2, eos=4, beam=2, max_len=3)


@plain
def test_the_first_to_finish_need_not_win(check, rng):
    """One hypothesis ends at once; another, which was better all the time, ends later."""
    table = told(
        rng, 2, 0, 7, {"a": 0.7, "end": 0.2, "b": 0.1}, {"a": {"c": 0.9, "b": 0.1}}, {"c": {"end": 0.95, "a": 0.05}}
    )
    check(check.step(table), bos=2, eos=0, beam=2, max_len=5)


@plain
def test_more_have_ended_than_are_kept(check, rng):
    """As many hypotheses have ended as the beam is wide, one of them is out again: the best one goes on."""
    second = {"a": {"c": 0.5, "d": 0.42, "f": 0.08}, "b": dict.fromkeys("cdfg", 0.25)}
    third = {"c": {"end": 0.55, "g": 0.45}, "d": {"e": 0.95, "h": 0.05}}
    table = told(rng, 2, 0, 12, {"a": 0.6, "end": 0.21, "b": 0.19}, second, third)
    check(check.step(table), bos=2, eos=0, beam=2, max_len=4)


@plain
def test_short_and_long(check, rng):
    """A short sequence with the higher probability and a long one with the higher probability per token."""
    second = {"a": {"c": 0.62, "d": 0.38}}
    third = {"c": {"end": 0.93, "a": 0.07}, "d": {"end": 0.93, "a": 0.07}}
    check(check.step(told(rng, 3, 1, 7, {"a": 0.55, "end": 0.45}, second, third)), bos=3, eos=1, beam=2, max_len=3)


@plain
def test_cut_off_before_it_ended(check, rng):
    """At the longest length an unfinished hypothesis is ahead of a finished one."""
    table = told(rng, 0, 5, 7, {"a": 0.7, "end": 0.3}, {"a": {"b": 0.8, "c": 0.2}})
    check(check.step(table), bos=0, eos=5, beam=2, max_len=2)
    check(check.step(table), bos=0, eos=5, beam=3, max_len=1)


@plain
def test_the_place_of_a_finished_hypothesis_is_taken(check, rng):
    """One ends and is overtaken by as many as the beam holds; the last of them wins."""
    even = dict.fromkeys("abcdefgh", 0.125)
    first = {"a": 0.46, "b": 0.36, "end": 0.18}
    second = {"a": {"c": 0.52, "d": 0.48}, "b": {"e": 0.9, "f": 0.1}}
    third = {"c": even, "e": even, "d": {"g": 0.97, "h": 0.03}}
    check(check.step(told(rng, 0, 3, 11, first, second, third)), bos=0, eos=3, beam=3, max_len=3)


@plain
@pytest.mark.parametrize("after", [1, 2, 4])
def test_all_hypotheses_end(check, rng, after):
    """Every hypothesis writes eos at the same length, well before the longest one."""

    def draw():
        table = normal(rng, 6, 10, 4, NEVER)
        table[after - 1, :, 4] += ALWAYS
        return table

    check(check.step(clear(draw, 0, 4, 3, 8)), bos=0, eos=4, beam=3, max_len=8)


@plain
@pytest.mark.parametrize("beam", [4, 9, 30])
def test_a_beam_larger_than_the_vocabulary(check, rng, beam):
    """There are fewer candidates than places at first, perhaps to the end."""
    for _ in range(2):
        table = clear(lambda: normal(rng, 3, 5, 0), 1, 0, beam, 3)
        check(check.step(table), bos=1, eos=0, beam=beam, max_len=3)


@plain
@pytest.mark.parametrize("bos", [0, 4])
def test_any_ids(check, rng, bos):
    """Ids of bos and eos anywhere in the vocabulary, 0 and the last one among them, also the same for both."""
    for eos in (0, 2, 4):
        for beam in (1, 2):
            table = clear(lambda eos=eos: normal(rng, 5, 6, eos, 0.5), bos, eos, beam, 4)
            check(check.step(table), bos, eos, beam, 4)


@plain
def test_more_hypotheses_than_tokens(check, rng):
    """Four tokens, and the hypothesis that wins in the end is the fifth on the way."""
    even, half = dict.fromkeys("abc", 1 / 3), {"a": 0.5, "b": 0.5}
    second = {"a": half, "b": half, "c": {"c": 0.5, "a": 0.25, "b": 0.25}}
    third = {"a": even, "b": even, "c": {"a": 0.97, "b": 0.03}}
    table = told(rng, 3, 3, 4, {"a": 0.5, "b": 0.3, "c": 0.2}, second, third)
    for beam in (5, 9):
        check(check.step(table), bos=3, eos=3, beam=beam, max_len=3)


@plain
def test_a_long_sequence(check, rng):
    """Seventy tokens: the probability is far below what float32 can hold, its logarithm is not."""

    def draw():
        table = normal(rng, 12, 72, 5) / 25
        table[0] *= 8
        table[0, :, 5] = NEVER
        return table

    table = clear(draw, 0, 5, 2, 70, margin=2e-4, lowest=110.0)
    check(check.step(table), bos=0, eos=5, beam=2, max_len=70)


@pytest.mark.device
@pytest.mark.parametrize(("beam", "boost"), [(3, NEVER), (3, 3.0), (9, NEVER)])
def test_a_large_vocabulary(check, rng, beam, boost):
    """Logits of 64 tokens stay where the model put them: only what was chosen comes to Python."""
    table = clear(lambda: normal(rng, 64, 6, 9, boost), 5, 9, beam, 4)
    check(check.step(table), bos=5, eos=9, beam=beam, max_len=4)


@pytest.mark.cost
def test_one_call_for_each_length(check, rng):
    """The model is what costs: it gets all hypotheses of one length at once, no more than the beam holds."""
    table = clear(lambda: normal(rng, 6, 9, 4, NEVER), 0, 4, 3, 6)
    found = check(check.step(table), bos=0, eos=4, beam=3, max_len=6)
    check.at_most(len(found.asked), 6, "step is called more often than there are tokens to write")
    check.at_most(max(rows for rows, _ in found.asked), 3, "step gets more prefixes than the beam holds")


@pytest.mark.cost
def test_no_call_after_the_end(check, rng):
    """Nothing is computed once every hypothesis of the beam has ended."""
    for after, beam in ((1, 1), (3, 1), (3, 3)):

        def draw(after=after):
            table = normal(rng, 6, 12, 4, NEVER)
            table[after - 1, :, 4] += ALWAYS
            return table

        found = check(check.step(clear(draw, 0, 4, beam, 10)), bos=0, eos=4, beam=beam, max_len=10)
        check.at_most(len(found.asked), after, "step is still called after every hypothesis has ended")


@plain
def test_a_long_sequence_of_one_hypothesis(check):
    """Greedy decoding of 130 tokens, some of them again and again."""
    table = torch.zeros(132, 6, 6, dtype=torch.float64)
    table[0, :, 2] = 1.0
    table[80, :, 3] = 2.0
    check(check.step(table), bos=1, eos=5, beam=1, max_len=130)


@plain
def test_ids_beyond_a_byte(check, rng):
    """A vocabulary of 300: the ids that are written and the prefixes they make up are whole; eos may be one of them."""

    def draw():
        table = normal(rng, 300, 4, 1, NEVER)
        table[0, :, 256:] += 8.0
        return table

    check(check.step(clear(draw, 299, 1, 2, 3, margin=1e-4)), bos=299, eos=1, beam=2, max_len=3)
    table = clear(draw, 299, 298, 2, 1)
    table[1, :, 298] += 2 * ALWAYS
    check(check.step(table), bos=299, eos=298, beam=2, max_len=3)


@plain
def test_a_beam_nearly_as_wide_as_the_vocabulary(check, rng):
    """Forty tokens, 39 hypotheses: the last one on the way wins in the end, all others are left without a clue."""
    vocab = 40
    table = torch.zeros(4, vocab, vocab, dtype=torch.float64)
    ids = rng.permutation(vocab - 1) + 1
    table[0, 0, ids] = -torch.arange(vocab - 1, dtype=torch.float64) / 64
    table[0, 0, 0] = -8.0
    table[1, ids[-1], ids[0]] = 30.0  # sure of what comes next, all others know nothing
    check(check.step(table), bos=0, eos=0, beam=vocab - 1, max_len=2)


@plain
def test_far_behind_and_best_in_the_end(check, rng):
    """One hypothesis is sure of its tokens, and nine behind; the other one is the first to know nothing."""
    vocab, beam, far = 300, 39, -9.0
    ids = rng.permutation(vocab - 2) + 2
    first, many, sure = (torch.full((vocab,), -60.0, dtype=torch.float64) for _ in range(3))
    first[ids[0]], first[ids[1]] = 0.0, far
    many[ids[2 : beam + 1]], sure[ids[-1]] = 0.0, 0.0
    table = torch.zeros(4, vocab, vocab, dtype=torch.float64)
    table[0, 0], table[1, ids[0]], table[1, ids[1]] = first, many - first, sure - first
    table[2, ids[2 : beam + 1]] = -many
    check(check.step(table), bos=0, eos=1, beam=beam, max_len=3)


@plain
@pytest.mark.parametrize("beam", [3, 12, 40])
def test_all_but_the_best_have_ended(check, rng, beam):
    """One hypothesis goes on where all others end: it is ahead until it knows nothing, and then one of them wins."""
    vocab = beam + 3
    ids = rng.permutation(vocab - 2) + 2
    table = torch.full((5, vocab, vocab), 0.0, dtype=torch.float64)
    table[0, 0] = -60.0
    table[0, 0, ids[:beam]] = -torch.arange(beam, dtype=torch.float64) / 64
    table[1, :, 1] = 200.0
    table[1, ids[0], 1], table[1, ids[0], ids[-1]] = 0.0, 200.0
    table[2, ids[-1]] = -table[0, 0] - table[1, ids[0]]
    check(check.step(table), bos=0, eos=1, beam=beam, max_len=3)


@pytest.mark.derive
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    table = clear(lambda: normal(rng, 5, 3, 4), 1, 4, 2, 3)
    table = torch.cat([table, torch.zeros(297, 5, 5, dtype=torch.float64)])
    table[3, :, 4] += ALWAYS
    check(check.step(table), 1, 4, 2, 300)
