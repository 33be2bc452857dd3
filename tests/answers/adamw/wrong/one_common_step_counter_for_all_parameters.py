# family: core
# mistake: one-count-for-all
# One common step counter for all parameters instead of each parameter's own.
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

HALVES = (torch.float16, torch.bfloat16)


def compute_dtype(t: Tensor) -> torch.dtype:
    return torch.float32 if t.dtype in HALVES else t.dtype


@dataclass
class Settings:
    lr: float
    betas: tuple[float, float]
    eps: float
    weight_decay: float

    def check(self) -> None:
        if min(self.lr, self.eps, self.weight_decay, *self.betas) < 0:
            raise ValueError(f"negative setting in {self}")
        if max(self.betas) >= 1:
            raise ValueError(f"betas must be below 1: {self.betas}")


@dataclass
class Slot:
    """What is remembered about one parameter."""

    param: Tensor
    mean: Tensor
    square: Tensor

    @classmethod
    def of(cls, p: Tensor) -> Slot:
        dtype = compute_dtype(p)
        return cls(p, torch.zeros_like(p, dtype=dtype, requires_grad=False), torch.zeros_like(p, dtype=dtype, requires_grad=False))


class AdamW:
    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        self.settings = Settings(lr, (betas[0], betas[1]), eps, weight_decay)
        self.settings.check()
        self.slots = [Slot.of(p) for p in params]
        if not self.slots:
            raise ValueError("there is nothing to optimise")
        self.steps = 0

    def step(self) -> None:
        s = self.settings
        beta1, beta2 = s.betas
        self.steps += 1  # wrong
        with torch.no_grad():
            for slot in self.slots:
                if slot.param.grad is None:
                    continue
                dtype = compute_dtype(slot.param)
                g = slot.param.grad.to(dtype)
                w = slot.param.to(dtype)
                slot.mean = beta1 * slot.mean + (1 - beta1) * g
                slot.square = beta2 * slot.square + (1 - beta2) * g.square()
                mean = slot.mean / (1 - beta1**self.steps)
                square = slot.square / (1 - beta2**self.steps)
                w = w - s.lr * s.weight_decay * w
                slot.param.copy_(w - s.lr * mean / (square.sqrt() + s.eps))

    def zero_grad(self) -> None:
        for slot in self.slots:
            slot.param.grad = None

    def state_dict(self) -> dict:
        s = self.settings
        return {
            "settings": {"lr": s.lr, "betas": s.betas, "eps": s.eps, "weight_decay": s.weight_decay},
            "steps": self.steps,
            "means": [slot.mean.clone() for slot in self.slots],
            "squares": [slot.square.clone() for slot in self.slots],
        }

    def load_state_dict(self, state_dict: dict) -> None:
        saved = dict(state_dict["settings"])
        self.settings = Settings(saved["lr"], tuple(saved["betas"]), saved["eps"], saved["weight_decay"])
        self.steps = state_dict["steps"]
        for slot, mean, square in zip(self.slots, state_dict["means"], state_dict["squares"]):
            slot.mean = mean.clone().to(slot.param.device)
            slot.square = square.clone().to(slot.param.device)
