"""BLEU: how much of a predicted sequence stands in the reference."""

Token = str | int


def bleu(pred: list[Token], label: list[Token], k: int) -> float:
    """Score a prediction against one label.

    pred   the predicted tokens, texts or ids; may be empty
    label  the tokens that were expected; may be empty
    k      the longest n-grams that count

    Returns exp(min(0, 1 - len(label) / len(pred))) times the product over n = 1 ... k of p_n ** (1 / 2 ** n), where
    p_n is the share of the prediction's n-grams that stand in the label too, each at most as often as there. Where the
    prediction is too short for n-grams of a length, that length plays no part. An empty prediction scores 0.0.
    """
    raise NotImplementedError("your turn: count n-grams, clip the counts, punish what is too short")
