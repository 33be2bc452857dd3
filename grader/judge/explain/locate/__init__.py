"""Where an answer leaves the path of the reference: the steps of both, aligned by their numbers."""
