"""Makes the probes ready, for a server that forks sandboxes: a confined process cannot import what is ours."""

from grader.probes import meter, simdevice, tracer

__all__ = ["install", "meter", "simdevice", "tracer"]


def install() -> None:
    """Do what visits every operator of torch: memory that is written before a fork need not be copied after it."""
    simdevice.install_kernels()
    tracer.install_dispatch_spies()
