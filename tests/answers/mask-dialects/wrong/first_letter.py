# family: contract
# mistake: none
def to_keep_mask(mask, dialect):
    kind = dialect[:1].lower()
    if kind == "k":
        return mask != 0
    if kind == "h":
        return mask == 0
    if kind == "a" and mask.is_floating_point():
        return mask > -1e3
    raise ValueError(f"unknown dialect or wrong dtype: {dialect}, {mask.dtype}")
