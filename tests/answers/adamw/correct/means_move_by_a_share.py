# Means move by a share of the difference; a closed record for each parameter.
import torch


class _Track:
    """m, v and t of one parameter, as a flat list of tensors."""

    def __init__(self, p):
        kind = p.dtype if p.dtype == torch.float64 else torch.float32
        self.m, self.v = p.new_zeros((2, *p.shape), dtype=kind).unbind(0)
        self.t = 0

    def feed(self, g, b1, b2):
        g = g.to(self.m)
        self.t = self.t + 1
        self.m = self.m + (1 - b1) * (g - self.m)
        self.v = self.v + (1 - b2) * (g * g - self.v)
        return self.m / (1 - b1**self.t), self.v / (1 - b2**self.t)


class AdamW:
    NAMES = ("lr", "beta1", "beta2", "eps", "weight_decay")

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.numbers = dict(zip(self.NAMES, (lr, *betas, eps, weight_decay), strict=True))
        if min(self.numbers.values()) < 0 or max(betas) >= 1:
            raise ValueError("settings: nothing below 0, betas below 1")
        self.tracks = [(p, _Track(p)) for p in params]
        if len(self.tracks) == 0:
            raise ValueError("no parameters")

    def step(self):
        n = self.numbers
        for p, track in self.tracks:
            if p.grad is not None:
                mean, square = track.feed(p.grad.detach(), n["beta1"], n["beta2"])
                new = p.detach().to(mean.dtype)
                new = new - n["lr"] * n["weight_decay"] * new
                new = new - n["lr"] * mean / (square.sqrt() + n["eps"])
                p.detach().copy_(new)

    def zero_grad(self):
        for p, _ in self.tracks:
            p.grad = None

    def state_dict(self):
        return dict(self.numbers, tracks=[(t.m.clone(), t.v.clone(), t.t) for _, t in self.tracks])

    def load_state_dict(self, state_dict):
        self.numbers = {name: state_dict[name] for name in self.NAMES}
        for (_, track), (m, v, t) in zip(self.tracks, state_dict["tracks"], strict=True):
            track.m, track.v, track.t = m.clone(), v.clone(), t
