"""What a device's name says."""


def is_real(device: str) -> bool:
    """Whether a device that was asked for is hardware: not the CPU, not the simulated one, and not left open."""
    return device not in ("", "cpu", "sim")
