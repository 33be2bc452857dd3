# says: out of memory|more than 1024 MiB
# outcome: failed crashed
def masked_softmax(scores, mask=None, dim=-1):
    hoard = []
    while True:
        hoard.append(bytearray(1 << 28))
