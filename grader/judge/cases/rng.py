"""The inputs of a case: fresh for each grading, the same for each variant of a case."""

from __future__ import annotations

import math
import zlib

import torch


class Numbers:
    """The ``rng`` of a case. Float results are float64 on the CPU; a case is cast to the dtype of its variant later."""

    def __init__(self, seed: int, case: str) -> None:
        self._origin = (seed, case)
        self._generator = torch.Generator().manual_seed(zlib.crc32(f"{seed}:{case}".encode()))

    def again(self) -> Numbers:
        """Return the same numbers from the start."""
        return Numbers(*self._origin)

    def normal(self, *shape: int, scale: float = 1.0) -> torch.Tensor:
        """Normal deviates with standard deviation ``scale``."""
        return torch.randn(shape, generator=self._generator, dtype=torch.float64) * scale

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> torch.Tensor:
        """Uniform deviates in ``[low, high)``."""
        return torch.rand(shape, generator=self._generator, dtype=torch.float64) * (high - low) + low

    def integers(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """int64 with ``low <= x < high``."""
        return torch.randint(low, high, shape, generator=self._generator)

    def keep(self, *shape: int, p: float = 0.6) -> torch.Tensor:
        """Bool mask; each row (last axis) keeps at least one key and, where it is longer than 1, hides at least one."""
        deviates = torch.rand(shape, generator=self._generator)
        keep = deviates < p
        if shape[-1] > 1:
            keep.scatter_(-1, deviates.argmax(-1, keepdim=True), value=False)
        return keep.scatter_(-1, deviates.argmin(-1, keepdim=True), value=True)

    def permutation(self, n: int) -> torch.Tensor:
        """Return the numbers below ``n`` in random order."""
        return torch.randperm(n, generator=self._generator)

    def weights_like(self, parameter: torch.Tensor) -> torch.Tensor:
        """Values for a parameter: none is left at an initial value that a wrong answer could share by luck."""
        noise = self.normal(*parameter.shape)
        if parameter.dim() > 1:
            return noise / math.sqrt(parameter.shape[-1])
        return parameter.detach().double() + 0.3 * noise
