"""Hidden cases of greedy-decode."""

import pytest
import torch

# Only a large vocabulary tells what may be copied to the host: the device has cases of its own.
plain = pytest.mark.derive
with_dtypes = pytest.mark.derive("dtype")
NEVER = -40.0  # far below and far above all that a model of quarters adds up to
ALWAYS = 80.0


def quarters(rng, vocab, positions):
    """Draw a table of multiples of 1/4: logits are exact in every dtype, and equal or clearly different."""
    return rng.integers(-8, 9, positions, vocab, vocab).double() / 4


def ending(rng, vocab, positions, bos, eos, after):
    """Draw a table whose model writes `eos` as its token number `after`, and never where that is 0."""
    table = quarters(rng, vocab, positions)
    table[0, bos, eos] = NEVER
    if after == 1:
        table[0, bos, eos] = ALWAYS
    elif after:
        table[after - 1, :, eos] += ALWAYS
    return table


@plain
def test_by_hand(check):
    """The example of the brief: of equal logits the lowest id, then clear ones, until eos or max_len."""
    table = torch.zeros(5, 4, 4, dtype=torch.float64)
    table[0] = 1.0
    table[1, 0] = torch.tensor([0.0, 2.0, 3.0, 4.0])
    table[2, 3] = torch.tensor([4.0, 6.0, -1.0, -1.0])
    check(check.step(table), 2, 1, 9)
    check(check.step(table), 2, 1, 2)


@with_dtypes
def test_one_token(check, rng):
    """The shortest sequence: one call, one token."""
    for _ in range(4):
        check(check.step(ending(rng, 5, 3, 1, 2, 0)), 1, 2, 1)


@with_dtypes
@pytest.mark.parametrize("max_len", [2, 5, 8])
def test_until_the_longest_length(check, rng, max_len):
    """The model never ends by itself; every token depends on all that were written before, and on their order."""
    for _ in range(3):
        check(check.step(ending(rng, 7, max_len + 2, 3, 6, 0)), bos=3, eos=6, max_len=max_len)


@with_dtypes
@pytest.mark.parametrize("after", [1, 2, 4])
def test_the_end_token_ends_it(check, rng, after):
    """The model writes eos long before the sequence is full."""
    for _ in range(3):
        check(check.step(ending(rng, 6, 11, 0, 4, after)), bos=0, eos=4, max_len=9)


@with_dtypes
def test_the_end_token_as_the_last_one(check, rng):
    """The last token that fits is eos, or would be the one after it."""
    check(check.step(ending(rng, 6, 6, 2, 1, 4)), bos=2, eos=1, max_len=4)
    check(check.step(ending(rng, 6, 6, 2, 1, 5)), bos=2, eos=1, max_len=4)
    check(check.step(ending(rng, 6, 6, 2, 1, 1)), bos=2, eos=1, max_len=1)


@plain
@pytest.mark.parametrize("bos", [0, 3, 4])
def test_any_ids(check, rng, bos):
    """Ids of bos and eos anywhere in the vocabulary, 0 and the last one among them."""
    for eos in (0, 2, 4):
        if eos != bos:
            check(check.step(ending(rng, 5, 8, bos, eos, 3)), bos, eos, 6)
            check(check.step(ending(rng, 5, 8, bos, eos, 0)), bos, eos, 4)


@plain
@pytest.mark.parametrize("after", [0, 1, 3])
def test_one_id_begins_and_ends(check, rng, after):
    """bos and eos are one id, as in GPT-2: what the prefix begins with does not end it."""
    check(check.step(ending(rng, 5, 8, 3, 3, after)), bos=3, eos=3, max_len=6)


@with_dtypes
def test_bos_is_written_like_any_token(check, rng):
    """The model writes the id of bos in the middle of a sequence."""
    table = ending(rng, 6, 8, 4, 1, 5)
    table[1, :, 4] += 20.0
    table[2, :, 4] -= 20.0
    check(check.step(table), bos=4, eos=1, max_len=6)


@with_dtypes
def test_equal_logits(check, rng):
    """Logits of whole numbers, many of them equal: the lowest id wins."""
    for _ in range(4):
        table = rng.integers(0, 2, 8, 6, 6).double()
        table[0, 5, 0] = NEVER
        check(check.step(table), bos=5, eos=0, max_len=6)


@plain
def test_all_logits_are_equal(check):
    """A model that knows nothing; once the lowest id is a token, once it is eos."""
    check(check.step(torch.zeros(7, 9, 9, dtype=torch.float64)), bos=8, eos=3, max_len=5)
    check(check.step(torch.zeros(7, 40, 40, dtype=torch.float64)), bos=8, eos=0, max_len=5)
    for vocab in (65, 300):
        check(check.step(torch.zeros(2, vocab, vocab, dtype=torch.float64)), bos=8, eos=0, max_len=2)


@with_dtypes
def test_equal_logits_of_the_end_token(check, rng):
    """The token eos shares the largest logit with a higher id, and then with a lower one."""
    for eos in (2, 4):
        table = quarters(rng, 6, 7)
        table[0, :, :] = 0.0
        table[1:, :, :] /= 4
        table[:, :, 3] = table[:, :, eos]
        table[2, :, 3] += 30.0
        table[2, :, eos] += 30.0
        check(check.step(table), bos=0, eos=eos, max_len=5)


@with_dtypes
def test_all_logits_are_negative(check, rng):
    """Logits are no probabilities: all of them may lie far below 0."""
    table = ending(rng, 6, 8, 0, 5, 0)
    table[0] -= 1000.0
    check(check.step(table.round()), bos=0, eos=5, max_len=5)


@plain
def test_huge_logits(check, rng):
    """Logits of a hundred thousand, of both signs."""
    table = ending(rng, 6, 8, 0, 5, 4) * 1e4
    check(check.step(table), bos=0, eos=5, max_len=6)


@with_dtypes
def test_forbidden_tokens(check, rng):
    """Tokens that the model rules out with a logit of -inf."""
    table = ending(rng, 6, 7, 2, 0, 0)
    table[0, :, 1] = float("-inf")
    table[2, :, 3:5] = float("-inf")
    check(check.step(table), bos=2, eos=0, max_len=5)


@with_dtypes
def test_nearly_equal_logits(check, rng):
    """In float64 the higher id is ahead by a billionth, a difference that float32 does not have."""
    for _ in range(2):
        table = torch.zeros(6, 7, 7, dtype=torch.float64)
        low, high = sorted(rng.permutation(6)[:2].tolist())
        table[0, 6, low], table[0, 6, high] = 1.0, 1.0 + 2.0**-30
        check(check.step(table), bos=6, eos=6, max_len=3)


@plain
def test_a_vocabulary_of_one_and_two(check, rng):
    """Nothing to choose from but eos; and one token beside it."""
    check(check.step(torch.zeros(4, 1, 1, dtype=torch.float64)), bos=0, eos=0, max_len=3)
    check(check.step(ending(rng, 2, 6, 1, 0, 3)), bos=1, eos=0, max_len=4)


@pytest.mark.device
@pytest.mark.parametrize("after", [0, 3])
def test_a_large_vocabulary(check, rng, after):
    """Logits of 64 tokens stay where the model put them: only what was chosen is a number of Python's."""
    check(check.step(ending(rng, 64, 7, 5, 9, after)), bos=5, eos=9, max_len=5)


@pytest.mark.cost
def test_one_call_for_each_token(check, rng):
    """The model is what costs: it runs once for each token, on one sequence."""
    written = check(check.step(ending(rng, 6, 9, 0, 4, 0)), bos=0, eos=4, max_len=6)
    check.at_most(len(written.asked), 6, "step is called more often than tokens are written")
    check.at_most(max(rows for rows, _ in written.asked), 1, "step is called with more than one sequence")


@pytest.mark.cost
def test_no_call_after_the_end(check, rng):
    """Nothing is computed once eos is there."""
    for after in (1, 3):
        written = check(check.step(ending(rng, 6, 12, 0, 4, after)), bos=0, eos=4, max_len=10)
        check.at_most(len(written.asked), after, "step is still called after eos")


@plain
def test_a_long_sequence(check, rng):
    """130 tokens: the last one still depends on the first ones; once eos comes behind a hundred."""
    check(check.step(ending(rng, 5, 132, 3, 4, 0)), bos=3, eos=4, max_len=130)
    check(check.step(ending(rng, 5, 132, 3, 4, 110)), bos=3, eos=4, max_len=130)


@plain
def test_one_token_again_and_again(check):
    """A model that repeats itself is not at its end."""
    check(check.step(torch.zeros(42, 5, 5, dtype=torch.float64)), bos=3, eos=4, max_len=40)


@plain
def test_ids_beyond_a_byte(check, rng):
    """A vocabulary of 300: the ids that are written and the prefix they make up are whole; eos may be one of them."""
    table = quarters(rng, 300, 5) / 4
    table[:, :, 256:] += 20.0
    check(check.step(table), bos=299, eos=1, max_len=4)
    check(check.step(ending(rng, 300, 5, 299, 290, 2)), bos=299, eos=290, max_len=4)


@plain
def test_allowed_tokens_far_below_zero(check, rng):
    """Some tokens are ruled out with -inf, and the logits of all others lie below minus a billion."""
    table = ending(rng, 6, 7, 2, 0, 0).round()
    table[0] = (table[0] - 2.0) * 1e9 - 1e10
    table[0, :, 1:3] = float("-inf")
    check(check.step(table), bos=2, eos=0, max_len=5)


@pytest.mark.derive
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    for length in (300, 600):
        table = quarters(rng, 4, length)
        table[:, :, 3] = NEVER
        if length > 300:  # what comes first decides to the end
            table[0, 1, 0] += ALWAYS
            table[0, 0, 2] += ALWAYS
        check(check.step(table), 1, 3, length)
