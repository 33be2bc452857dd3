# family: core
# mistake: none
# The gradient is scaled in place, so step() changes p.grad.
import math

import torch


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.params = list(params)
        b1, b2 = betas
        if not self.params or lr < 0 or eps < 0 or weight_decay < 0:
            raise ValueError("bad settings")
        if not (0 <= b1 < 1) or not (0 <= b2 < 1):
            raise ValueError("bad betas")
        self.hyper = [lr, b1, b2, eps, weight_decay]
        self.slots = []
        for p in self.params:
            wide = torch.promote_types(p.dtype, torch.float32)
            self.slots.append([0, torch.zeros_like(p.detach(), dtype=wide), torch.zeros_like(p.detach(), dtype=wide)])

    @torch.no_grad()
    def step(self):
        lr, b1, b2, eps, wd = self.hyper
        for p, slot in zip(self.params, self.slots):
            if p.grad is None:
                continue
            slot[0] += 1
            t, m, v = slot
            g = p.grad.to(m.dtype)
            v.mul_(b2).addcmul_(g, g, value=1 - b2)
            m.mul_(b1).add_(g.mul_(1 - b1))  # wrong
            denom = (v / (1 - b2 ** t)).sqrt_().add_(eps)
            w = p.to(m.dtype) * (1 - lr * wd)
            p.copy_(w - lr * (m / (1 - b1 ** t)) / denom)

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def state_dict(self):
        return {"hyper": list(self.hyper), "slots": [[t, m.clone(), v.clone()] for t, m, v in self.slots]}

    def load_state_dict(self, state_dict):
        self.hyper = list(state_dict["hyper"])
        for slot, (t, m, v) in zip(self.slots, state_dict["slots"]):
            slot[0] = int(t)
            slot[1].copy_(m)
            slot[2].copy_(v)
