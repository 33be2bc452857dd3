"""Why: known mistakes, facts, a script for the debugger, the report."""
