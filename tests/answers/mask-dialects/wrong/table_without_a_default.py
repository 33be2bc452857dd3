# family: contract
# mistake: key-error
def additive(mask):
    if not mask.is_floating_point():
        raise ValueError("additive masks must be float")
    return mask > -1.0


TRANSLATORS = {"keep": lambda mask: mask != 0, "hide": lambda mask: mask == 0, "additive": additive}


def to_keep_mask(mask, dialect):
    return TRANSLATORS[dialect](mask)
