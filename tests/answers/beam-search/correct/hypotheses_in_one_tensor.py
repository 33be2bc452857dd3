import torch
from torch import Tensor


class Beam:
    """All hypotheses in one tensor of ids; finished ones are copied from round to round."""

    def __init__(self, bos: int, width: int, longest: int) -> None:
        self.ids = torch.zeros(width, longest + 1, dtype=torch.long)
        self.ids[[0], [0]] = bos
        self.scores = [0.0]
        self.lengths = [1]
        self.done = [False]

    def prefixes(self, t: int) -> Tensor:
        return self.ids[[i for i, done in enumerate(self.done) if not done], :t]

    def replace(self, kept: list[tuple[float, int, int | None]], eos: int) -> None:
        old = self.ids.clone()
        rows = list(range(len(kept)))
        self.ids[rows] = old[[parent for _, parent, _ in kept]]
        self.lengths = [self.lengths[parent] + (token is not None) for _, parent, token in kept]
        new = [(row, token) for row, (_, _, token) in enumerate(kept) if token is not None]
        self.ids[[row for row, _ in new], [self.lengths[row] - 1 for row, _ in new]] = torch.tensor([t for _, t in new])
        self.done = [token is None or token == eos for _, _, token in kept]
        self.scores = [score for score, _, _ in kept]


def beam_search(step, bos, eos, beam, max_len):
    search = Beam(bos, beam, max_len)
    for t in range(1, max_len + 1):
        if all(search.done):
            break
        log_probs = step(search.prefixes(t)).log_softmax(-1)
        values, ids = torch.sort(log_probs, descending=True, stable=True)
        rows = iter(zip(values[:, :beam].unbind(), ids[:, :beam].unbind()))
        candidates: list[tuple[float, int, int | None]] = []
        for parent, (score, done) in enumerate(zip(search.scores, search.done)):
            if done:
                candidates.append((score, parent, None))
            else:
                best, tokens = next(rows)
                candidates += [(score + v, parent, i) for v, i in zip(best.tolist(), tokens.tolist())]
        search.replace(sorted(candidates, key=lambda c: -c[0])[:beam], eos)
    return search.ids[0, 1 : search.lengths[0]].tolist(), search.scores[0]
