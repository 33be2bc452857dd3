"""One question and its answer: arguments, results, what was observed, when two tensors are equal."""
