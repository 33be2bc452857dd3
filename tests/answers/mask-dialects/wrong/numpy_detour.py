# family: device
# mistake: none
import numpy as np
import torch


def to_keep_mask(mask, dialect):
    values = mask.detach().cpu().to(torch.float64).numpy()
    if dialect == "keep":
        keep = values != 0
    elif dialect == "hide":
        keep = values == 0
    elif dialect == "additive":
        if not mask.is_floating_point():
            raise ValueError("additive masks must be float")
        keep = values > -1e3
    else:
        raise ValueError(dialect)
    return torch.from_numpy(np.ascontiguousarray(keep)).to(mask.device)
