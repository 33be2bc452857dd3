"""Interview practice for attention: the tool."""

__version__ = "0.1.0"

DISTRIBUTION = "attention-kata"
"""What pip calls it; the command is `kata`."""
