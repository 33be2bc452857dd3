# family: dtype
# mistake: none
"""Loads the means in the dtype of the parameter, where small squares are 0."""

import torch


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.params = list(params)
        if not self.params:
            raise ValueError("no parameters")
        if lr < 0 or eps < 0 or weight_decay < 0:
            raise ValueError("negative setting")
        if not (0 <= betas[0] < 1 and 0 <= betas[1] < 1):
            raise ValueError("betas")
        self.lr, self.betas, self.eps, self.weight_decay = lr, tuple(betas), eps, weight_decay
        self.state = [None] * len(self.params)

    @torch.no_grad()
    def step(self):
        b1, b2 = self.betas
        for i, p in enumerate(self.params):
            if p.grad is None:
                continue
            dtype = torch.float32 if p.dtype in (torch.float16, torch.bfloat16) else p.dtype
            g = p.grad.to(dtype)
            if self.state[i] is None:
                self.state[i] = [0, torch.zeros_like(p, dtype=dtype), torch.zeros_like(p, dtype=dtype)]
            s = self.state[i]
            s[0] += 1
            t, m, v = s
            m.mul_(b1).add_(g, alpha=1 - b1)
            v.mul_(b2).addcmul_(g, g, value=1 - b2)
            x = p.to(dtype)
            x = x * (1 - self.lr * self.weight_decay)
            x = x - self.lr * (m / (1 - b1 ** t)) / ((v / (1 - b2 ** t)).sqrt() + self.eps)
            p.copy_(x)

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def state_dict(self):
        return {
            "state": [None if s is None else [s[0], s[1].clone(), s[2].clone()] for s in self.state],
            "settings": [self.lr, list(self.betas), self.eps, self.weight_decay],
        }

    def load_state_dict(self, state_dict):
        self.state = [None if s is None else [s[0], s[1].to(p.dtype).to(s[1].dtype), s[2].to(p.dtype).to(s[2].dtype)] for s, p in zip(state_dict["state"], self.params)]
        self.lr, betas, self.eps, self.weight_decay = state_dict["settings"]
        self.betas = tuple(betas)
