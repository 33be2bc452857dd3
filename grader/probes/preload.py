"""Imports the probes, for a server that forks sandboxes: a confined process cannot import what is ours."""

from grader.probes import meter, simdevice, tracer

__all__ = ["meter", "simdevice", "tracer"]
