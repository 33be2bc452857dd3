# family: contract
# mistake: unknown-is-additive
def to_keep_mask(mask, dialect):
    if dialect == "keep":
        return mask.bool()
    elif dialect == "hide":
        return ~mask.bool()
    else:
        if not mask.is_floating_point():
            raise ValueError("additive masks must be float")
        return mask > -1000
