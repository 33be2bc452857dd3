# family: core
# mistake: none
# The second mean is one of the squared first mean, not of the squared gradient.
import copy
from dataclasses import dataclass

import torch


@dataclass
class Memory:
    t: int
    m: torch.Tensor
    v: torch.Tensor


def wide(dtype):
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        params = [p for p in params]
        if len(params) == 0:
            raise ValueError("params is empty")
        if lr < 0 or eps < 0 or weight_decay < 0:
            raise ValueError("lr, eps and weight_decay have to be 0 or more")
        if min(betas) < 0 or max(betas) >= 1:
            raise ValueError("betas have to be in [0, 1)")
        self.params = params
        self.settings = dict(lr=lr, beta1=betas[0], beta2=betas[1], eps=eps, weight_decay=weight_decay)
        self.memory = [
            Memory(0, torch.zeros_like(p, dtype=wide(p.dtype), requires_grad=False),
                   torch.zeros_like(p, dtype=wide(p.dtype), requires_grad=False))
            for p in params
        ]

    def step(self):
        with torch.no_grad():
            for p, mem in zip(self.params, self.memory):
                if p.grad is not None:
                    self._step_one(p, mem, p.grad.to(mem.m.dtype))

    def _step_one(self, p, mem, g):
        s = self.settings
        mem.t += 1
        mem.m = s["beta1"] * mem.m + (1 - s["beta1"]) * g
        mem.v = s["beta2"] * mem.v + (1 - s["beta2"]) * mem.m * mem.m  # wrong
        mean = mem.m / (1 - s["beta1"] ** mem.t)
        size = (mem.v / (1 - s["beta2"] ** mem.t)).sqrt() + s["eps"]
        x = p.to(g.dtype)
        x = x - s["lr"] * s["weight_decay"] * x
        p.copy_(x - s["lr"] * mean / size)

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def state_dict(self):
        return copy.deepcopy({
            "settings": self.settings,
            "t": [mem.t for mem in self.memory],
            "m": [mem.m for mem in self.memory],
            "v": [mem.v for mem in self.memory],
        })

    def load_state_dict(self, state_dict):
        self.settings = dict(state_dict["settings"])
        for mem, t, m, v in zip(self.memory, state_dict["t"], state_dict["m"], state_dict["v"]):
            mem.t = t
            mem.m = m.detach().clone().to(mem.m.device)
            mem.v = v.detach().clone().to(mem.v.device)
