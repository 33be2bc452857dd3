"""bleu agrees with a count by hand, in exact fractions, and with scores that are known."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from tests.references import reference

TOLERANCE = 1e-10


def precision(pred: str, label: str, n: int) -> Fraction:
    """Pair each n-gram of the prediction with one of the label that is still free."""
    free = [True] * (len(label) - n + 1)
    matches = 0
    for i in range(len(pred) - n + 1):
        for j, is_free in enumerate(free):
            if is_free and pred[i : i + n] == label[j : j + n]:
                free[j], matches = False, matches + 1
                break
    return Fraction(matches, len(pred) - n + 1)


def by_hand(pred: str, label: str, k: int) -> float:
    """Nested square roots: sqrt(p_1 * sqrt(p_2 * ...)) are the weights 1/2, 1/4, ..."""
    root = 1.0
    for n in range(min(k, len(pred)), 0, -1):
        root = math.sqrt(float(precision(pred, label, n)) * root)
    return root * math.exp(1 - len(label) / len(pred)) if len(pred) < len(label) else root


@pytest.mark.parametrize("k", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("letters", ["ab", "abcd"])
def test_bleu(letters: str, k: int) -> None:
    """Random sequences of all lengths, as letters and as ids."""
    draw = random.Random(k)
    for _ in range(200):
        pred, label = ("".join(draw.choices(letters, k=draw.randint(1, 9))) for _ in range(2))
        want = by_hand(pred, label, k)
        score = reference("bleu").bleu
        assert abs(score(list(pred), list(label), k) - want) <= TOLERANCE
        assert abs(score([ord(c) for c in pred], [ord(c) for c in label], k) - want) <= TOLERANCE


def test_known_scores() -> None:
    """Translations from "Dive into Deep Learning" and the example of the original paper."""
    score = reference("bleu").bleu
    assert score(["va", "!"], ["va", "!"], 2) == 1.0
    assert score(["je", "suis", "calme", "."], ["il", "est", "calme", "."], 2) == pytest.approx(
        0.5**0.5 * (1 / 3) ** 0.25
    )
    assert score(["the"] * 7, ["the", "cat", "is", "on", "the", "mat", "."], 1) == pytest.approx((2 / 7) ** 0.5)
    assert score([], ["a"], 1) == score(["a"], [], 1) == score([], [], 3) == 0.0
