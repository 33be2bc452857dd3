# family: contract
# mistake: unknown-is-additive
def to_keep_mask(mask, dialect):
    if dialect not in "keep,hide,additive":
        raise ValueError(dialect)
    if dialect == "keep":
        return mask.bool()
    if dialect == "hide":
        return ~mask.bool()
    if not mask.is_floating_point():
        raise ValueError(mask.dtype)
    return mask > -1000
