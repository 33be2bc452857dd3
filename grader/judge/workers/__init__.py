"""Processes that answer, what is asked of them, and the reference."""
