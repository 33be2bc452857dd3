"""What `kata show kernel-regression --weights` draws."""

import torch


def drawing(check):
    """Queries between keys: each sees its neighbours."""
    keys = torch.linspace(0.0, 5.0, 11)
    _values, weights = check["nadaraya_watson"](torch.linspace(0.0, 5.0, 6), keys, keys.sin(), bandwidth=0.7)
    return {"weights": (weights, [f"{x:g}" for x in range(6)], [f"{x:g}" for x in keys.tolist()])}
