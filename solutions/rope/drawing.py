"""What `kata show rope --weights` draws."""


def drawing(check):
    """Cosines and sines of 24 positions: the angles grow slower towards the right."""
    cos, sin = check["rotary_angles"](24, 16)
    return {"cos": (cos, range(24), range(8)), "sin": (sin, range(24), range(8))}
