"""The references, loaded as modules, for tests that compare them with something else."""

from __future__ import annotations

import types

import torch
from torch import Tensor

from grader import catalog


def reference(kata: str) -> types.ModuleType:
    """Load the reference of a kata as a module of its own."""
    found = catalog.find(kata)
    module = types.ModuleType(f"reference_of_{kata.replace('-', '_')}")
    exec(compile(found.reference(), str(found.solution / "reference.py"), "exec", dont_inherit=True), module.__dict__)
    return module


def agree(got: Tensor, want: Tensor) -> None:
    """Check shape, dtype and values, to 1e-10."""
    torch.testing.assert_close(got, want, rtol=1e-10, atol=1e-10)
