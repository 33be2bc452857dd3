import torch

_FLOATS = {torch.float64, torch.float32, torch.bfloat16, torch.float16}


def _truth(mask):
    if mask.dtype in _FLOATS:
        raise ValueError("0/1 masks are bool or integer")
    return mask.to(torch.bool)


def _additive(mask):
    if mask.dtype not in _FLOATS:
        raise ValueError(f"{mask.dtype} cannot be added to scores")
    return ~(mask <= -100.0)


_TRANSLATE = {"keep": _truth, "hide": lambda mask: ~_truth(mask), "additive": _additive}


def to_keep_mask(mask, dialect):
    translate = _TRANSLATE.get(dialect)
    if translate is None:
        raise ValueError(f"dialect must be one of {sorted(_TRANSLATE)}, not {dialect!r}")
    return translate(mask)
