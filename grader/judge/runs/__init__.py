"""From cases to outcomes: recordings, their order, and the runner."""
