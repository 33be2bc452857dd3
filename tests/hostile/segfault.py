# says: SIGSEGV
# outcome: crashed
import ctypes
def masked_softmax(scores, mask=None, dim=-1):
    ctypes.string_at(0)
