"""Hidden cases of bleu."""

import pytest


def tokens(rng, length, vocabulary="abc"):
    """Draw a sequence of letters."""
    return [vocabulary[i] for i in rng.integers(0, len(vocabulary), length).tolist()]


def changed(rng, sequence, places, by="x"):
    """Return a copy with other tokens in some places."""
    copy = list(sequence)
    for place in rng.permutation(len(sequence))[:places].tolist():
        copy[place] = by
    return copy


def test_by_hand(check):
    """The example of the brief: one token too few, one said twice."""
    for k in (1, 2, 4):
        check(list("abbcd"), list("abcdef"), k)


def test_word_for_word(check):
    """A prediction without a fault scores 1."""
    check(["he", "is", "calm", "."], ["he", "is", "calm", "."], 2)


def test_nothing_in_common(check):
    """Not one token of the prediction stands in the label."""
    check(["a", "b", "c"], ["d", "e", "f"], 2)
    check(["a"], ["b"], 1)


def test_one_wrong_token(check, rng):
    """Every n-gram that holds the wrong token is lost."""
    label = list("abcdefgh")
    for k in (1, 2, 3):
        check(changed(rng, label, 1), label, k)


def test_texts_that_begin_alike(check):
    """Predictions of one length that differ behind their beginning: each is scored for itself."""
    check(list("abcdxfgh"), list("abcdefgh"), 2)
    check(list("abcdefgx"), list("abcdefgh"), 2)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_longer_n_grams(check, k):
    """The longest n-grams that count, and their weights: half, a quarter, an eighth."""
    check(list("abcdefgxhi"), list("abcdefghij"), k)


def test_the_longest_n_grams(check):
    """A long text and a large k: there is no length beyond which n-grams do not count."""
    label = list("abcdefghijklmnopqrstuvwxyz")
    for k in (5, 6, 7, 8, 9, 12):
        check([*label[:9], "?", *label[10:]], label, k)
    check(list("abcd"), list("abcde"), 1100)


def test_a_word_said_again_and_again(check):
    """A token counts at most as often as it stands in the label."""
    check(["the"] * 7, ["the", "cat", "is", "on", "the", "mat", "."], 1)
    check(list("aaab"), list("abab"), 1)
    check(list("abcabc"), list("abc"), 2)


def test_a_word_that_stands_there_twice(check):
    """What the label says twice may be said twice."""
    check(list("abacad"), list("acabad"), 1)
    check(list("ababcd"), list("cdabab"), 2)


def test_the_order_of_words(check):
    """The right words in another order: single tokens match, pairs do not all."""
    check(list("dabce"), list("abcde"), 1)
    check(list("dabce"), list("abcde"), 2)
    check(list("cba"), list("abc"), 1)


def test_right_words_but_no_pair(check):
    """One length without a match makes the whole score 0."""
    check(list("cba"), list("abc"), 2)
    check(list("acbd"), list("abcd"), 3)


def test_shifted_words(check):
    """Where an n-gram stands does not matter."""
    check(list("xabcd"), list("abcdy"), 2)
    check(list("xyabcd"), list("abcdyx"), 3)


@pytest.mark.parametrize("length", [1, 2, 5])
def test_too_short(check, length):
    """Every token is right, but some are missing: precision alone would not see it."""
    check(list("abcdefg")[:length], list("abcdefg"), 1)
    check(list("abcdefg")[:length], list("abcdefg"), 2)


def test_too_long(check):
    """Tokens behind the end of the label: they cost precision, and their number earns nothing."""
    check(list("abcdx"), list("abcd"), 2)
    check(list("abcdefgh"), list("abcd"), 3)


def test_too_short_for_long_n_grams(check):
    """The prediction has no n-grams of some length: that length plays no part."""
    check(["a"], ["a"], 2)
    check(["a", "b"], ["a", "b"], 4)
    check(["a", "b"], ["a", "b", "c", "d", "e"], 3)
    check(["b"], ["a", "b", "c"], 5)


def test_a_label_too_short_for_long_n_grams(check):
    """The label has no n-grams of some length, the prediction has."""
    check(["a", "b"], ["a"], 2)
    check(["a", "b", "c"], ["b", "c"], 2)
    check(["a", "b", "c"], ["b", "c"], 3)
    check(["a", "b", "c", "d", "e"], ["b", "c", "d"], 5)


def test_empty_sequences(check):
    """Nothing was predicted, or nothing was expected, or neither."""
    check([], ["a", "b"], 2)
    check(["a", "b"], [], 2)
    check([], [], 1)


def test_ids(check, rng):
    """Tokens may be the ids that a decoder wrote, 0 among them."""
    check([4, 0, 7, 0, 2], [4, 0, 7, 2], 2)
    label = rng.integers(0, 3, 9).tolist()
    check(label[2:] + label[:2], label, 3)


def test_tokens_that_look_alike_when_joined(check):
    """Different pairs that give the same text once they are glued together."""
    check(["ab", "c", "x"], ["a", "bc", "x"], 1)
    check(["a", "bc", "x", "y"], ["ab", "c", "x", "y"], 2)
    check([1, 11, 5, 6, 1], [11, 1, 5, 6, 11], 2)
    check(["a b", "c", "d", "e"], ["a", "b c", "d", "e"], 2)
    check(["a", "b,c", "d", "e"], ["a,b", "c", "d", "e"], 2)
    between = [*" ,;:.|/_-+#@&\t\n\0\x1f", ", ", "<sep>"]
    pred = [token for sign in between for token in (f"a{sign}b", "c")]
    label = [token for sign in between for token in ("a", f"b{sign}c")]
    check([*pred, "x", "y"], [*label, "x", "y"], 2)


def test_texts_are_not_letters(check):
    """Tokens are compared whole: no part of one, no other case, no ending."""
    check(["cat", "sat", "mat", "the"], ["the", "cats", "sat", "mat"], 1)
    check(["The", "cat", "."], ["the", "cat", "."], 2)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_random_sequences(check, rng, k):
    """Few different tokens, many repetitions, different lengths."""
    for _ in range(8):
        shorter, longer = sorted(rng.integers(6, 14, 2).tolist())
        check(tokens(rng, shorter), tokens(rng, longer), k)
        check(tokens(rng, longer, "ab"), tokens(rng, shorter, "ab"), k)


@pytest.mark.contract
def test_the_lists_are_left_alone(check):
    """The caller still needs both sequences: nothing is taken out of them."""
    check(list("abab"), list("baab"), 2)
    check(list("abc"), list("xyz"), 1)
    check([1, 2, 3], [3, 2, 1, 1], 1)


def test_tokens_that_look_special(check):
    """Markers, empty texts, blanks: all of them are tokens like any other."""
    for token in ("<eos>", "<bos>", "<pad>", "<unk>", "</s>", "[SEP]", "", " ", "None"):
        check(["a", token, "b", "c"], ["a", token, "b", "d"], 2)
        check(["a", token, "b"], ["a", "b"], 1)
    check(["a ", "b", "c"], ["a", "b", "c"], 1)
    check(["\u00e9", "\ufb01", "c"], ["e\u0301", "fi", "c"], 1)


def test_any_ids(check):
    """Ids of any size, which no float and no machine word holds, negative ones among them."""
    large = 2**24, 2**32 + 5, 2**53, 2**64
    check([*large, 7], [*(i + 1 for i in large), 7], 1)
    check([5, 1007, 2], [2**32 + 5, 7, 2], 1)
    check([-1, 3, -100, 4], [-1, 3, 5, 4], 2)
    check([-1, 3, 5, 4], [-2, 3, 5, 4], 2)
    check([1, "2", 3], ["1", 2, 3], 1)
    check(["1"], [1], 1)
    check([1], ["1"], 2)


def test_long_sequences(check):
    """Three hundred tokens, one and the same or all different, with a fault at the end."""
    check([4] * 300, [4] * 299 + [5], 2)
    check([*range(299), 7], [*range(300)], 2)
    check([4], [4] * 30, 1)
    check([*range(5), 9, *range(5)], [*range(5), 8, *range(5)], 6)
    check([*range(40)], [*range(30), *range(31, 40)], 24)
