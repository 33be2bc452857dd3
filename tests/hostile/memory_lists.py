# says: out of memory|more than 1024 MiB
# outcome: failed crashed
def masked_softmax(scores, mask=None, dim=-1):
    hoard, size = [], 1 << 20
    while True:
        hoard.append([0.0] * (size // 8))
        size *= 64
