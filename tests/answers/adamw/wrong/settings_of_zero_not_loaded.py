# family: core
# mistake: zero-settings-not-loaded
# A saved eps or weight_decay of 0 is taken for none: the new optimiser keeps its own.
import copy
import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass
class Slot:
    m: Tensor
    v: Tensor
    t: int = 0


class AdamW:
    def __init__(self, params: Iterable[Tensor], lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        self.params = list(params)
        if not self.params:
            raise ValueError("no parameters")
        if lr < 0 or eps < 0 or weight_decay < 0:
            raise ValueError("negative setting")
        if not all(0 <= b < 1 for b in betas):
            raise ValueError("betas must be in [0, 1)")
        self.lr, self.betas, self.eps, self.weight_decay = lr, tuple(betas), eps, weight_decay
        self.slots = [self._slot(p) for p in self.params]

    @staticmethod
    def _slot(p: Tensor) -> Slot:
        wide = torch.promote_types(p.dtype, torch.float32)
        z = torch.zeros(p.shape, dtype=wide, device=p.device)
        return Slot(z, z.clone())

    @torch.no_grad()
    def step(self) -> None:
        b1, b2 = self.betas
        for p, s in zip(self.params, self.slots):
            if p.grad is None:
                continue
            g = p.grad.to(s.m.dtype)
            s.t += 1
            s.m.mul_(b1).add_(g, alpha=1 - b1)
            s.v.mul_(b2).addcmul_(g, g, value=1 - b2)
            c1 = 1 - b1**s.t
            c2 = 1 - b2**s.t
            w = p.to(s.m.dtype) * (1 - self.lr * self.weight_decay)
            denom = (s.v / c2).sqrt().add_(self.eps)
            w = w - self.lr * (s.m / c1) / denom
            p.copy_(w)

    def zero_grad(self) -> None:
        for p in self.params:
            p.grad = None

    def state_dict(self) -> dict:
        return {
            "settings": {"lr": self.lr, "betas": self.betas, "eps": self.eps, "weight_decay": self.weight_decay},
            "m": [s.m.clone() for s in self.slots],
            "v": [s.v.clone() for s in self.slots],
            "t": [s.t for s in self.slots],
        }

    def load_state_dict(self, state_dict: dict) -> None:
        c = state_dict["settings"]
        self.lr, self.betas = c["lr"], tuple(c["betas"])
        self.eps, self.weight_decay = c["eps"] or self.eps, c["weight_decay"] or self.weight_decay  # wrong
        for i, s in enumerate(self.slots):
            s.m = state_dict["m"][i].clone()
            s.v = state_dict["v"][i].clone()
            s.t = state_dict["t"][i]
