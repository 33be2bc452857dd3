# says: raised KeyboardInterrupt
# outcome: failed
def masked_softmax(scores, mask=None, dim=-1):
    raise KeyboardInterrupt
