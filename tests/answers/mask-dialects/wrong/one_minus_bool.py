# family: core
# mistake: none
def to_keep_mask(mask, dialect):
    if dialect == "keep":
        return mask.bool()
    if dialect == "hide":
        return (1 - mask).bool()
    if dialect == "additive":
        if not mask.is_floating_point():
            raise ValueError("additive masks must be float")
        return mask > -1e4 / 2
    raise ValueError(f"unknown dialect {dialect}")
