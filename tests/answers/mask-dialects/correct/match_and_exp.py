import torch


def to_keep_mask(mask, dialect):
    match dialect:
        case "keep":
            return mask.to(torch.float32) > 0.5
        case "hide":
            return torch.where(mask.bool(), False, True)
        case "additive" if mask.is_floating_point():
            return mask.double().exp() > 0.5
        case "additive":
            raise ValueError("integers and bools are not additive")
        case _:
            raise ValueError(dialect)
