"""Interview practice for attention: the tool."""

__version__ = "0.1.0"
