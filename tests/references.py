"""The references, loaded as modules, for tests that compare them with something else."""

from __future__ import annotations

import importlib.util
import types

import torch
from torch import Tensor

from grader import catalog


def reference(kata: str) -> types.ModuleType:
    """Load the reference of a kata as a module of its own."""
    path = catalog.find(kata).solution / "reference.py"
    spec = importlib.util.spec_from_file_location(f"reference_of_{kata.replace('-', '_')}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def agree(got: Tensor, want: Tensor) -> None:
    """Check shape, dtype and values, to 1e-10."""
    torch.testing.assert_close(got, want, rtol=1e-10, atol=1e-10)
