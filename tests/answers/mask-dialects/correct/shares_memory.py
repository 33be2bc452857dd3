import torch


class UnknownDialect(ValueError):
    pass


def to_keep_mask(mask, dialect):
    if dialect in ("keep", "hide"):
        as_bool = mask if mask.dtype == torch.bool else mask.ne(0)
        return as_bool if dialect == "keep" else as_bool ^ True
    if dialect != "additive":
        raise UnknownDialect(dialect)
    if not mask.dtype.is_floating_point:
        raise ValueError("not floating point")
    return torch.eq(mask, torch.zeros((), dtype=mask.dtype, device=mask.device))
