"""What `kata show positional-encoding --weights` draws."""


def drawing(check):
    """The first 24 positions: slow waves on the right, fast ones on the left."""
    table = check["sinusoidal_encoding"](24, 16)
    return {"encoding": (table, range(24), range(16))}
