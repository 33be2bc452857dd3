"""AdamW: gradients divided by their own size, and a weight decay that keeps out of it.

    m = β1 m + (1 - β1) g                      the mean of the gradients, decaying
    v = β2 v + (1 - β2) g²                     that of their squares
    θ = θ - lr λ θ                             the decay, apart from the gradient
    θ = θ - lr m̂ / (√v̂ + ε)                    m̂ = m / (1 - β1ᵗ), v̂ = v / (1 - β2ᵗ): both began at 0

Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization" (arXiv:1711.05101), algorithm 2; Adam itself:
Kingma and Ba 2015 (arXiv:1412.6980).
"""

from collections.abc import Iterable

import torch
from torch import Tensor


class AdamW:
    """Adam with decoupled weight decay, for tensors that have a gradient after `backward()`.

    params        tensors to change in place; any iterable, such as model.parameters()
    lr            how far a step goes
    betas         how slowly the two means forget
    eps           added to the root
    weight_decay  the share of a parameter that each step takes away, times lr

    Raises ValueError for no parameters, for anything below 0, and for betas that are not in [0, 1).
    """

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
            raise ValueError("there are no parameters")
        if min(lr, eps, weight_decay) < 0:
            raise ValueError(f"lr={lr}, eps={eps} and weight_decay={weight_decay} must not be below 0")
        if not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"betas={betas} must lie in [0, 1)")
        self.settings = {"lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay}
        self.states = [self.fresh(param) for param in self.params]

    def fresh(self, param: Tensor) -> dict:
        """Return the state of a parameter before its first step; halves have means in float32."""
        zeros = torch.zeros_like(param, dtype=torch.promote_types(param.dtype, torch.float32), requires_grad=False)
        return {"step": 0, "mean": zeros, "square": zeros.clone()}

    @torch.no_grad()
    def step(self) -> None:
        """Move every parameter that has a gradient."""
        lr, eps, decay = self.settings["lr"], self.settings["eps"], self.settings["weight_decay"]
        beta1, beta2 = self.settings["betas"]
        for param, state in zip(self.params, self.states, strict=True):
            if param.grad is None:
                continue
            grad = param.grad.to(state["mean"].dtype)
            state["step"] += 1
            state["mean"] = beta1 * state["mean"] + (1 - beta1) * grad
            state["square"] = beta2 * state["square"] + (1 - beta2) * grad.square()
            mean = state["mean"] / (1 - beta1 ** state["step"])
            square = state["square"] / (1 - beta2 ** state["step"])
            decayed = param.to(grad.dtype) * (1 - lr * decay)
            param.copy_(decayed - lr * mean / (square.sqrt() + eps))

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for param in self.params:
            param.grad = None

    def state_dict(self) -> dict:
        """Return all that a new optimiser needs to go on: plain numbers and tensors, to be written to a file."""
        return {"settings": dict(self.settings), "states": [dict(state) for state in self.states]}

    def load_state_dict(self, state_dict: dict) -> None:
        """Go on where another optimiser was, with its settings."""
        self.settings = dict(state_dict["settings"])
        self.states = [dict(state) for state in state_dict["states"]]
