"""Seeds of the inputs."""

import secrets


def fresh_seed() -> int:
    """Return a seed that nobody can foresee."""
    return secrets.randbelow(2**31)
