# family: contract
# mistake: none
def to_keep_mask(mask, dialect):
    if dialect == "keep":
        return mask != 0
    if dialect == "hide":
        return mask == 0
    if dialect == "additive":
        if not mask.is_floating_point():
            raise ValueError("additive masks must be float")
        mask.data[mask < -1.0] = 1.0
        return mask == 0
    raise ValueError(dialect)
