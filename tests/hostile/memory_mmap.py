# says: out of memory|more than 1024 MiB|Cannot allocate memory
# outcome: failed crashed
import mmap
def masked_softmax(scores, mask=None, dim=-1):
    area = mmap.mmap(-1, 6 << 30)
    for at in range(0, 6 << 30, 4096):
        area[at] = 1
