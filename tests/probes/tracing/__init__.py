"""Calls that are out of bounds, by every route, and calls that are not."""
