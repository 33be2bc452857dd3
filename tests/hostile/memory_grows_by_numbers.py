# says: out of memory|more than 1024 MiB|no answer within
# outcome: failed crashed timeout
def masked_softmax(scores, mask=None, dim=-1):
    hoard = []
    while True:
        hoard.extend(range(len(hoard), len(hoard) + 1_000_000))
