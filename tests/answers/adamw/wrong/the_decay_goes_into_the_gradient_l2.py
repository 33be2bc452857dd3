# family: core
# mistake: decay-in-the-gradient
# The decay goes into the gradient (L2), as in Adam, instead of being apart from it.
import math
import torch


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.params = list(params)
        if not self.params:
            raise ValueError("no parameters")
        if lr < 0 or eps < 0 or weight_decay < 0:
            raise ValueError("negative setting")
        if not all(0 <= b < 1 for b in betas):
            raise ValueError("betas must be in [0, 1)")
        self.lr, self.betas, self.eps, self.wd = lr, tuple(betas), eps, weight_decay
        acc = [torch.promote_types(p.dtype, torch.float32) for p in self.params]
        self.m = [torch.zeros_like(p, dtype=a, requires_grad=False) for p, a in zip(self.params, acc)]
        self.v = [torch.zeros_like(m) for m in self.m]
        self.t = [0] * len(self.params)

    @torch.no_grad()
    def step(self):
        b1, b2 = self.betas
        for i, p in enumerate(self.params):
            if p.grad is None:
                continue
            self.t[i] += 1
            m, v = self.m[i], self.v[i]
            x = p.to(m.dtype)
            g = p.grad.to(m.dtype) + self.wd * x  # wrong
            m.mul_(b1).add_(g, alpha=1 - b1)
            v.mul_(b2).addcmul_(g, g, value=1 - b2)
            mh = m / (1 - b1 ** self.t[i])
            vh = v / (1 - b2 ** self.t[i])
            p.copy_(x - self.lr * mh / (vh.sqrt() + self.eps))

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def state_dict(self):
        return {"lr": self.lr, "betas": list(self.betas), "eps": self.eps, "weight_decay": self.wd,
                "t": list(self.t), "m": list(self.m), "v": list(self.v)}

    def load_state_dict(self, sd):
        self.lr, self.betas = sd["lr"], tuple(sd["betas"])
        self.eps, self.wd = sd["eps"], sd["weight_decay"]
        self.t = list(sd["t"])
        for mine, other in zip(self.m + self.v, list(sd["m"]) + list(sd["v"])):
            mine.copy_(other)
