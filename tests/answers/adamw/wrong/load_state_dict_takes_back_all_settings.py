# family: core
# mistake: none
# Load_state_dict takes back all settings but weight_decay, so the loaded optimiser decays with its own.
"""AdamW, production style."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor


class AdamW:
    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        self.params: list[Tensor] = list(params)
        if not self.params:
            raise ValueError("no parameters to optimise")
        for name, value in (("lr", lr), ("eps", eps), ("weight_decay", weight_decay)):
            if value < 0:
                raise ValueError(f"{name} must not be negative: {value}")
        for beta in betas:
            if not 0 <= beta < 1:
                raise ValueError(f"a beta must be in [0, 1): {beta}")
        self.lr = lr
        self.betas = (betas[0], betas[1])
        self.eps = eps
        self.weight_decay = weight_decay
        self.steps: list[int] = [0] * len(self.params)
        self.first: list[Tensor] = [self._blank(p) for p in self.params]
        self.second: list[Tensor] = [self._blank(p) for p in self.params]

    @staticmethod
    def _blank(p: Tensor) -> Tensor:
        return torch.zeros(p.shape, dtype=torch.promote_types(p.dtype, torch.float32), device=p.device)

    @torch.no_grad()
    def step(self) -> None:
        beta1, beta2 = self.betas
        for i, p in enumerate(self.params):
            if p.grad is None:
                continue
            m, v = self.first[i], self.second[i]
            g = p.grad.to(m.dtype)
            self.steps[i] += 1
            t = self.steps[i]
            m.mul_(beta1).add_(g, alpha=1 - beta1)
            v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
            m_hat = m / (1 - beta1**t)
            v_hat = v / (1 - beta2**t)
            new = p.to(m.dtype) * (1 - self.lr * self.weight_decay)
            new = new - self.lr * m_hat / (v_hat.sqrt() + self.eps)
            p.copy_(new)

    def zero_grad(self) -> None:
        for p in self.params:
            p.grad = None

    def state_dict(self) -> dict:
        return {
            "lr": self.lr,
            "betas": list(self.betas),
            "eps": self.eps,
            "weight_decay": self.weight_decay,
            "steps": list(self.steps),
            "first": [m.clone() for m in self.first],
            "second": [v.clone() for v in self.second],
        }

    def load_state_dict(self, state_dict: dict) -> None:
        self.lr = state_dict["lr"]
        self.betas = tuple(state_dict["betas"])
        self.eps = state_dict["eps"]  # wrong
        self.steps = list(state_dict["steps"])
        self.first = [s.to(m, copy=True) for s, m in zip(state_dict["first"], self.first)]
        self.second = [s.to(v, copy=True) for s, v in zip(state_dict["second"], self.second)]
