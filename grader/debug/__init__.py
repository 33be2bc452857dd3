"""Debug rounds: the model answer with known mistakes planted in it, for a learner to find and repair."""
