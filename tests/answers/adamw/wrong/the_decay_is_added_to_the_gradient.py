# family: core
# mistake: decay-in-the-gradient
# The decay is added to the gradient (L2, as in plain Adam), so it goes through the means and the division.
"""AdamW, in the manner of a small hand-written optimiser."""

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
        self.params = list(params)
        if not self.params:
            raise ValueError("no parameters")
        if lr < 0 or eps < 0 or weight_decay < 0:
            raise ValueError("lr, eps and weight_decay must not be negative")
        if not all(0 <= b < 1 for b in betas):
            raise ValueError("betas must be in [0, 1)")
        self.lr, self.betas, self.eps, self.weight_decay = lr, tuple(betas), eps, weight_decay
        self.t = [0 for _ in self.params]
        self.m = [torch.zeros_like(self._wide(p)) for p in self.params]
        self.v = [torch.zeros_like(self._wide(p)) for p in self.params]

    @staticmethod
    def _wide(x: Tensor) -> Tensor:
        x = x.detach()
        return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x

    @torch.no_grad()
    def step(self) -> None:
        b1, b2 = self.betas
        for i, p in enumerate(self.params):
            if p.grad is None:
                continue
            theta = self._wide(p)
            g = self._wide(p.grad) + self.weight_decay * theta  # wrong
            self.t[i] += 1
            self.m[i] = b1 * self.m[i] + (1 - b1) * g
            self.v[i] = b2 * self.v[i] + (1 - b2) * g * g
            m_hat = self.m[i] / (1 - b1 ** self.t[i])
            v_hat = self.v[i] / (1 - b2 ** self.t[i])
            p.copy_(theta - self.lr * m_hat / (v_hat.sqrt() + self.eps))

    def zero_grad(self) -> None:
        for p in self.params:
            p.grad = None

    def state_dict(self) -> dict:
        return {
            "lr": self.lr,
            "betas": list(self.betas),
            "eps": self.eps,
            "weight_decay": self.weight_decay,
            "t": list(self.t),
            "m": [m.clone() for m in self.m],
            "v": [v.clone() for v in self.v],
        }

    def load_state_dict(self, state_dict: dict) -> None:
        self.lr = state_dict["lr"]
        self.betas = tuple(state_dict["betas"])
        self.eps = state_dict["eps"]
        self.weight_decay = state_dict["weight_decay"]
        self.t = list(state_dict["t"])
        self.m = [m.clone().to(p.device) for m, p in zip(state_dict["m"], self.params)]
        self.v = [v.clone().to(p.device) for v, p in zip(state_dict["v"], self.params)]
