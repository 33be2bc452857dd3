"""AdamW: gradients divided by their own size, and a weight decay that keeps out of it."""

from collections.abc import Iterable

import torch
from torch import Tensor


class AdamW:
    """Adam with decoupled weight decay, for tensors that have a gradient after `backward()`.

        m = β1 m + (1 - β1) g               v = β2 v + (1 - β2) g²
        θ = θ - lr λ θ                      the decay, apart from the gradient
        θ = θ - lr m̂ / (√v̂ + ε)             m̂ = m / (1 - β1ᵗ), v̂ = v / (1 - β2ᵗ)

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
        raise NotImplementedError("your turn: check the settings, two means for each parameter")

    def step(self) -> None:
        """Move every parameter that has a gradient."""
        raise NotImplementedError("your turn: means, corrections, decay, step")

    def zero_grad(self) -> None:
        """Forget the gradients."""
        raise NotImplementedError("your turn: no gradient is left")

    def state_dict(self) -> dict:
        """Return all that a new optimiser needs to go on: plain numbers and tensors, to be written to a file."""
        raise NotImplementedError("your turn: what would be lost otherwise?")

    def load_state_dict(self, state_dict: dict) -> None:
        """Go on where another optimiser was, with its settings."""
        raise NotImplementedError("your turn: take it back in")
