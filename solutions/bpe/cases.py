"""Hidden cases of bpe."""

import pytest
import torch

LINES = """She sells sea shells by the sea shore; the shells she sells are sea shells, I'm sure.
So if she sells sea shells on the sea shore, then I'm sure she sells sea shore shells.
"""
SIGNS = [
    " ",
    "\n",
    "\t",
    "e",
    "\u00e9",
    "e\u0301",
    "\u4f60",
    "\u597d",
    "\U0001f600",
    "\U0001f468\u200d\U0001f469",
    "\0",
]


def letters(seed, length, alphabet):
    """Draw a text of these letters, the same in each grading: a text is a setting, as k is in others."""
    drawn = torch.randint(len(alphabet), (length,), generator=torch.Generator().manual_seed(seed))
    return "".join(alphabet[i] for i in drawn.tolist())


def there_and_back(check, text, merges):
    """Encode a text and decode what came out."""
    ids = check["encode"](text, merges)
    check["decode"](ids, merges)


def test_by_hand(check):
    """The example of the task: three merges, one of them between equals; then another text."""
    merges = check["train_bpe"]("aaabdaaabac", 3)
    check["encode"]("aaabdaaabac", merges)
    check["encode"]("aab", merges)
    check["decode"]([258, 100, 258, 97, 99], [(97, 97), (256, 97), (257, 98)])


def test_one_merge(check):
    """The most frequent pair of neighbours becomes id 256."""
    for text in ("abcbc", "xyxyxyab", "hello hello"):
        check["train_bpe"](text, 1)


def test_a_merge_of_merges(check):
    """New ids have neighbours, too: the counts are those of what is there after each merge."""
    for text in ("abcabcabcab", "abababab", "xabcdyabcdzabcd"):
        check["train_bpe"](text, 4)
        check["train_bpe"](text, 2)


def test_pairs_that_a_merge_takes_away(check):
    """A pair that was frequent shares its letters with a better one: once that is merged, it is rare."""
    check["train_bpe"]("abcabcabcabc" + "bdbdbd" + "efefef", 4)
    check["train_bpe"]("xaxaxaxa" + "ayayay" + "qrqr", 5)


@pytest.mark.parametrize("n_merges", [1, 2, 3])
def test_equal_counts(check, n_merges):
    """Two or more pairs occur equally often: the greater one is taken, wherever it stands."""
    for text in ("abXcd", "cdXab", "zyzy abab", "abab zyzy", "ab ac ab ac", "ba ca ba ca"):
        check["train_bpe"](text, n_merges)


def test_equal_counts_of_new_ids(check):
    """New ids are greater than any byte, and numbers are compared, not texts."""
    check["train_bpe"]("aaabdaaabac", 3)
    check["train_bpe"]("ababcabab~~c~~c", 6)
    check["train_bpe"]("\x09\x64 \x64\x09 ", 2)
    check["train_bpe"]("dede\x09d\x09d", 2)


def test_runs_of_one_letter(check):
    """Neighbours in a run overlap: all of them count, and they are merged from the left."""
    for length in (2, 3, 4, 5, 7, 8, 16):
        merges = check["train_bpe"]("a" * length, 3)
        check["encode"]("a" * (length + 1), merges)
    check["train_bpe"]("aaaa bcbc", 1)
    check["train_bpe"]("aaaaa bcbcbc xyxyxy", 2)
    check["train_bpe"]("aaa " * 400 + "ab" * 700, 1)


def test_pairs_that_occur_once(check):
    """There is no pair that occurs twice: training goes on."""
    for text in ("abc", "abcdefg", "abab cdef"):
        for n_merges in (1, 2, 5):
            check["train_bpe"](text, n_merges)


def test_no_pair_is_left(check):
    """More merges are asked for than the text has: it ends as a single id."""
    for text in ("ab", "abc", "aaaa", "abcabc"):
        merges = check["train_bpe"](text, 50)
        check["encode"](text, merges)


def test_nothing_to_merge(check):
    """No text, a single byte, no merges wanted."""
    for text, n_merges in (("", 3), ("a", 3), ("abab", 0), ("", 0)):
        merges = check["train_bpe"](text, n_merges)
        there_and_back(check, text, merges)
        there_and_back(check, "abc", merges)


def test_bytes_and_not_characters(check):
    """A character may be several bytes, of which pairs are made as of any others."""
    for text in (
        "\u00e9\u00e9\u00e9",
        "\u4f60\u597d\u4f60\u597d\uff0c\u4e16\u754c",
        "na\u00efve caf\u00e9",
        "\U0001f600\U0001f601\U0001f600",
    ):
        merges = check["train_bpe"](text, 4)
        there_and_back(check, text, merges)
        there_and_back(check, text[1:] + "?", merges)


def test_words_are_not_split(check):
    """Blanks, line ends and punctuation are merged with their neighbours."""
    for text in ("a b a b a b", "on\non\non\n", "the cat the cat the", "x, y, x, y, ", "  a  a  ", "1 2 1 2 12 12"):
        merges = check["train_bpe"](text, 3)
        there_and_back(check, text, merges)


def test_capitals_and_accents_are_kept(check):
    """Nothing is lowered, stripped or normalised before it is counted."""
    for text in (
        "AbabAB",
        " ab ",
        "ab\r\nab\r\n",
        "one\r\ntwo\r\nthree\r\none\r\n",
        "e\u0301e\u0301 \u00e9\u00e9",
        "\ufb01\ufb01fifi",
        "\ufeffab\ufeffab",
    ):
        merges = check["train_bpe"](text, 2)
        there_and_back(check, text, merges)


def test_merges_by_their_order(check):
    """What came first in training comes first here, not what stands first in the text."""
    for merges in ([(98, 99), (97, 98)], [(97, 98), (98, 99)], [(99, 100), (97, 98), (98, 99), (97, 256)]):
        for text in ("abc", "abcd", "ababcbc", "bcabcab"):
            check["encode"](text, merges)


def test_no_longest_match(check):
    """A longer token would fit, but an earlier merge has taken its first byte."""
    merges = [(98, 99), (97, 98), (257, 99), (256, 100), (97, 256), (260, 100)]
    for text in ("abc", "abcd", "bcd", "abbcd", "aabcdab"):
        there_and_back(check, text, merges)


def test_merges_that_never_apply(check):
    """Some parts do not occur in the text, others are taken by earlier merges: their ids stay unused."""
    merges = [(120, 121), (97, 98), (256, 97), (98, 99), (257, 99), (259, 259)]
    for text in ("abcabc", "bcbc", "xyabxya", "zzz"):
        there_and_back(check, text, merges)


def test_a_tower_of_merges(check):
    """Each merge builds on the one before: a text of sixteen bytes is one id."""
    merges = [(97, 97), (256, 256), (257, 257), (258, 258)]
    for length in (1, 3, 16, 21, 31):
        there_and_back(check, "a" * length, merges)
    check["decode"]([259, 258, 257, 256, 97, 259], merges)


def test_another_text_than_that_of_training(check):
    """Merges were learned elsewhere; what they do not know stays bytes."""
    merges = check["train_bpe"](LINES, 20)
    for text in ("seashells", "The shore.", "\u4e16\u754c sea \U0001f41a", "ssssss", ""):
        there_and_back(check, text, merges)


@pytest.mark.parametrize("n_merges", [3, 12, 30])
def test_random_texts(check, n_merges):
    """Few letters, many repetitions, many equal counts."""
    for alphabet in ("ab", "abc", "abcdefgh ", "\u00e9a\u4f60"):
        merges = check["train_bpe"](letters(n_merges, 60, alphabet), n_merges)
        there_and_back(check, letters(n_merges + 1, 30, alphabet), merges)


def test_any_text_returns(check):
    """Signs of one to four bytes, in any order, with merges that cut through them."""
    merges = check["train_bpe"]("".join(SIGNS) * 3, 12)
    for seed in range(6):
        text = letters(seed, 12, SIGNS)
        there_and_back(check, text, merges)
        there_and_back(check, text, [])


def test_texts_that_look_special(check):
    """Markers are text like any other."""
    for text in ("<|endoftext|>", "<s>a</s>", "[UNK]", "\\n\\x00", "Ġthe", "▁the", "\ufffd", "'"):
        merges = check["train_bpe"](text * 2, 3)
        there_and_back(check, text, merges)


def test_single_ids(check):
    """Each byte that is a character, and each merge, by itself."""
    merges = [(104, 105), (256, 33), (32, 257)]
    for token in (0, 9, 10, 65, 127, 256, 257, 258):
        check["decode"]([token], merges)
    check["decode"]([], merges)


def test_parts_of_a_character(check):
    """Ids may end within a character, as when a model stops: its bytes are no UTF-8, and no error."""
    for ids in (
        [195],
        [228, 189],
        [189, 160, 97],
        [97, 195, 98],
        [255, 254],
        [240, 159, 152],
        [256],
        [256, 160],
        [97, 256],
    ):
        check["decode"](ids, [(228, 189)])
    check["decode"]([228, 257], [(228, 189), (189, 160)])


def test_texts_one_after_the_other(check):
    """Nothing is kept from one call to the next: not the counts, not the merges, not the pieces."""
    first, second = check["train_bpe"]("abababcd", 3), check["train_bpe"]("cdcdcdab", 3)
    for merges in (first, second, first):
        there_and_back(check, "abcdabcd", merges)
    check["train_bpe"]("abababcd", 3)
    many = [(left, right) for left in range(97, 130) for right in range(97, 130)]
    for merges in (many, many[::-1], many):
        check["encode"]("abcdabcd", merges)
        check["decode"]([256, 299, 1280], merges)


def test_long_texts(check):
    """A page of text and sixty merges; texts of two thousand bytes."""
    merges = check["train_bpe"](LINES * 4, 60)
    check["encode"](LINES * 5 + "a shore of shells", merges)
    there_and_back(check, LINES[:70] + "a shore of shells", merges)
    check["train_bpe"](LINES, 300)
    there_and_back(check, "x" + "ab" * 1050, [(97, 98)])


@pytest.mark.contract
@pytest.mark.parametrize("ids", [[256], [97, 258], [-1], [97, -3, 98], [100000]], ids=str)
def test_ids_that_do_not_exist(check, ids):
    """Neither a byte nor one of the merges."""
    with check.raises(ValueError):
        check["decode"](ids, [] if ids == [256] else [(97, 98), (256, 99)])


@pytest.mark.contract
def test_the_lists_are_left_alone(check):
    """Merges and ids belong to the caller, who uses them again."""
    merges, ids = [(97, 98), (256, 99), (99, 257)], [97, 98, 257, 258, 99]
    check["encode"]("abcabcab", merges)
    check["decode"](ids, merges)


def test_counts_beyond_a_thousand(check, rng):
    """A pair that occurs a thousand times and once more beats one that occurs a thousand times."""
    low, high = sorted(rng.permutation(20)[:2].tolist())
    first, second = chr(97 + low), chr(97 + high)
    check["train_bpe"]((first + second) * int(rng.integers(1100, 1300, 1)), 1)
    check["train_bpe"]((first + second) * 256, 1)


@pytest.mark.large
@pytest.mark.derive
def test_long_trainings(check):
    """A pair that occurs 4,200 times; of equal counts the greater pair, whatever ids stand beside it.

    There one goes beyond 1,024: z takes in sign after sign up to the end of the text. No pair occurs twice.
    """
    check["train_bpe"]("ab" * 4200, 1)
    signs, at = [], 0
    for apart in range(1, 24):
        for _ in range(37):
            signs.append(chr(48 + at % 37))
            at += apart
    check["train_bpe"]("b!az" + "".join(signs), 950)


def test_many_merges(check, rng):
    """A token of hundreds of bytes; more than a thousand merges, the last of which count as the first do."""
    chain = [(97, 98), *((256 + number, 98) for number in range(399))]
    check["encode"]("ab" + "b" * int(rng.integers(350, 399, 1)), chain)
    check["decode"]([256 + 398, 97, 256 + 300, int(rng.integers(256, 600, 1))], chain)
    wide = [(left, right) for left in range(65, 99) for right in range(65, 99)]
    check["encode"]("".join(map(chr, rng.integers(65, 99, 60).tolist())) + "baba", wide)


def test_thousands_of_merges(check):
    """Ids go as far as there are merges: beyond 1,024, 2,048, 4,096, as pieces of other merges, too."""
    signs = range(48, 111)
    rows = [(left, right) for left in signs for right in signs]
    first_of_a_row, first_of_the_last = 256 + 63 * 3, 256 + 63 * 62
    pairs = [(number, 9 - number) for number in range(10)]
    merges = [*rows, *((first_of_a_row + left, first_of_the_last + right) for left, right in pairs)]
    text = "".join(chr(51) + chr(48 + left) + chr(110) + chr(48 + right) for left, right in pairs)
    there_and_back(check, text + letters(5, 20, "MnopQrstU0"), merges)
