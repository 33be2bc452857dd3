"""What authors write: cases, and the check that they call."""
