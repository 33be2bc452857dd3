"""One grading: the cases run by pytest, the comparison, the report."""
