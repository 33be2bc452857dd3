import torch


class Greedy:
    def __init__(self, step, bos, eos):
        self.step, self.bos, self.eos = step, bos, eos

    def advance(self, ids):
        log_probs = torch.log_softmax(self.step(ids).double(), -1)
        return log_probs[:, :].argmax(1)

    def run(self, limit):
        ids = torch.full((1, 1), self.bos)
        for _ in range(limit):
            chosen = self.advance(ids).cpu()
            ids = torch.hstack((ids, chosen[:, None]))
            if (chosen == self.eos).all():
                break
        return [int(i) for i in ids[0]][1:]


def greedy_decode(step, bos, eos, max_len):
    with torch.inference_mode():
        return Greedy(step, bos, eos).run(max_len)
