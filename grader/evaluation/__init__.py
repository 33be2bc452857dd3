"""Samples of a model: tasks to ask it, its answers from file to file, and how often they pass."""
