# family: contract
# mistake: unknown-is-hide
def to_keep_mask(mask, dialect):
    if dialect == "keep":
        return mask.bool()
    elif dialect == "hide":
        return mask.logical_not()
    else:
        return mask == 0
