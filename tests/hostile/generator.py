# says: a generator
# outcome: failed
def masked_softmax(scores, mask=None, dim=-1):
    yield scores
