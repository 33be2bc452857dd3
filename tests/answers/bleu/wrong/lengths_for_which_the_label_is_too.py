# family: core
# mistake: none
# Lengths for which the label is too short are left out of the product, where p_n is 0.
import math
from collections import Counter

Token = str | int


def bleu(pred: list[Token], label: list[Token], k: int) -> float:
    number_of_predicted_tokens = len(pred)
    number_of_expected_tokens = len(label)
    if number_of_predicted_tokens == 0 or number_of_expected_tokens == 0:
        return 0.0
    length_ratio = number_of_expected_tokens / number_of_predicted_tokens
    brevity_penalty = math.exp(min(0.0, 1.0 - length_ratio))
    product_of_precisions = 1.0
    longest = min(k, number_of_predicted_tokens, number_of_expected_tokens)  # wrong
    for n in range(1, longest + 1):
        expected_counts: Counter = Counter()
        for start in range(number_of_expected_tokens - n + 1):
            expected_gram = tuple(label[start : start + n])
            expected_counts[expected_gram] += 1
        predicted_counts: Counter = Counter()
        for start in range(number_of_predicted_tokens - n + 1):
            predicted_gram = tuple(pred[start : start + n])
            predicted_counts[predicted_gram] += 1
        matching = 0
        for gram, count in predicted_counts.items():
            matching += min(count, expected_counts[gram])
        number_of_predicted_grams = number_of_predicted_tokens - n + 1
        precision = matching / number_of_predicted_grams
        exponent = 1.0 / 2.0**n
        product_of_precisions *= precision**exponent
    return brevity_penalty * product_of_precisions
