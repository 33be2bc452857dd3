from dataclasses import dataclass, field

import torch


@dataclass
class Slot:
    param: torch.Tensor
    t: int = 0
    m: torch.Tensor = None
    v: torch.Tensor = None

    def update(self, lr, betas, eps, weight_decay):
        g = self.param.grad
        if g is None:
            return
        if g.dtype in (torch.half, torch.bfloat16):
            g = g.float()
        if self.t == 0:
            self.m, self.v = torch.zeros_like(g), torch.zeros_like(g)
        self.t += 1
        self.m = torch.lerp(g, self.m, betas[0])
        self.v = torch.lerp(g.square(), self.v, betas[1])
        root = torch.sqrt(self.v / (1 - betas[1] ** self.t))
        direction = self.m / (1 - betas[0] ** self.t) / (root + eps)
        with torch.no_grad():
            x = self.param.to(g.dtype)
            self.param.set_((x - lr * weight_decay * x - lr * direction).to(self.param.dtype))


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.slots = [Slot(p) for p in params]
        bad = [lr < 0, eps < 0, weight_decay < 0, not self.slots, *(b < 0 or b >= 1 for b in betas)]
        if any(bad):
            raise ValueError("these settings cannot work")
        self.settings = (lr, tuple(betas), eps, weight_decay)

    def step(self):
        for slot in self.slots:
            slot.update(*self.settings)

    def zero_grad(self):
        for slot in self.slots:
            slot.param.grad = None

    def state_dict(self):
        return {"settings": self.settings, "slots": [(s.t, s.m, s.v) for s in self.slots]}

    def load_state_dict(self, state_dict):
        self.settings = state_dict["settings"]
        for slot, (t, m, v) in zip(self.slots, state_dict["slots"]):
            slot.t, slot.m, slot.v = t, m, v
