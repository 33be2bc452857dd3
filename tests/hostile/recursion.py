# says: without end
# outcome: failed
def masked_softmax(scores, mask=None, dim=-1):
    return masked_softmax(scores, mask, dim)
