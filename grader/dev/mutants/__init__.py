"""Mutants: answers that are wrong in one place, or at one level of one factor, and must be rejected for it."""
